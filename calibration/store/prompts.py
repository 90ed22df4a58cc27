"""Prompt versions and judges by digest; names and versions are pointers to them."""

from __future__ import annotations

from sqlite_utils import Database

from calibration.errors import ConflictError, InputError
from calibration.records import Judge, JudgeKind, Prompt
from calibration.store.connection import Connected, one
from calibration.store.rows import row_judge, row_prompt, to_json

PROMPTS = (
    "SELECT n.*, p.criterion, p.system, p.user, p.unfenced FROM prompt_names n JOIN prompts p ON p.digest = n.digest"
)


def ensure_judge(db: Database, judge: Judge, time: str) -> str:
    """Store a judge unless it is there, inside the caller's write transaction; returns its digest."""
    key = judge.digest
    if one(db, "SELECT 1 FROM judges WHERE digest = ?", [key]) is None:
        db.table("judges").insert(
            {
                "digest": key,
                "kind": str(judge.kind),
                "name": judge.name,
                "criterion": judge.criterion,
                "prompt": judge.prompt,
                "model": judge.model,
                "host": judge.host,
                "params": to_json(dict(judge.params)),
                "time": time,
            }
        )
    return key


class Prompts(Connected):
    """Queries on prompt versions and judges."""

    def add_prompt(self, prompt: Prompt) -> Prompt:
        """Register a prompt version; the same text under the same name is left as it is.

        Raises ConflictError when the version is taken by another text.
        """
        with self.writing() as db:
            held = self._version(db, prompt.name, prompt.version)
            if held is not None:
                if held.digest == prompt.digest:
                    return held
                raise ConflictError(
                    f"{prompt.label} is already registered with another text; make version "
                    f"{self._newest(db, prompt.name) + 1}"
                )
            twin = one(db, f"{PROMPTS} WHERE n.name = ? AND n.digest = ?", [prompt.name, prompt.digest])
            if twin is not None:
                raise ConflictError(f"{prompt.name}-v{twin['version']} has exactly this text already")
            if prompt.version != self._newest(db, prompt.name) + 1:
                raise InputError(f"{prompt.label}: the next version is {self._newest(db, prompt.name) + 1}")
            self._insert_prompt(db, prompt)
            stored = self._version(db, prompt.name, prompt.version)
        if stored is None:  # pragma: no cover - it was inserted in the same transaction
            raise InputError(f"{prompt.label} was not stored")
        return stored

    def _insert_prompt(self, db: Database, prompt: Prompt) -> None:
        if one(db, "SELECT 1 FROM prompts WHERE digest = ?", [prompt.digest]) is None:
            db.table("prompts").insert(
                {
                    "digest": prompt.digest,
                    "criterion": prompt.criterion,
                    "system": prompt.system,
                    "user": prompt.user,
                    "unfenced": int(prompt.unfenced),
                }
            )
        db.table("prompt_names").insert(
            {
                "name": prompt.name,
                "version": prompt.version,
                "digest": prompt.digest,
                "parent": prompt.parent,
                "note": prompt.note,
                "author": prompt.author,
                "created": prompt.created,
                "examples": to_json(list(prompt.examples)),
                "registered_at": self.now(),
            }
        )

    @staticmethod
    def _version(db: Database, name: str, version: int) -> Prompt | None:
        row = one(db, f"{PROMPTS} WHERE n.name = ? AND n.version = ?", [name, version])
        return None if row is None else row_prompt(row)

    @staticmethod
    def _newest(db: Database, name: str) -> int:
        sql = "SELECT coalesce(max(version), 0) AS n FROM prompt_names WHERE name = ?"
        return int(next(iter(db.query(sql, [name])))["n"])

    def prompts(self, name: str | None = None) -> list[Prompt]:
        """Registered versions by name and number, of one name or of all."""
        where, bound = ("WHERE n.name = ?", [name]) if name is not None else ("", [])
        with self.reading() as db:
            return [row_prompt(row) for row in db.query(f"{PROMPTS} {where} ORDER BY n.name, n.version", bound)]

    def prompt(self, label: str) -> Prompt | None:
        """The version named `correct-v2`, or the one whose digest starts with `label` (6 hex digits or more)."""
        found = [p for p in self.prompts() if p.label == label or (len(label) >= 6 and p.digest.startswith(label))]
        return found[0] if found else None

    def judges(self, criterion: str | None = None) -> list[Judge]:
        """Judges in order of arrival, of one criterion or of all."""
        where, bound = ("WHERE criterion = ?", [criterion]) if criterion is not None else ("", [])
        with self.reading() as db:
            return [row_judge(row) for row in db.query(f"SELECT * FROM judges {where} ORDER BY rowid", bound)]

    def find_judge(self, name: str, criterion: str | None = None) -> Judge:
        """The judge named `PROMPT-vN@MODEL`, by `PROMPT-vN` alone, or by 6 or more hex digits of its digest.

        Raises InputError that lists the known ones, or all that a name fits.
        """
        known = self.judges(criterion)
        found = [judge for judge in known if name in (judge.name, judge.digest)]
        if not found:
            found = [judge for judge in known if judge.name.split("@")[0] == name]
        if not found and len(name) >= 6:
            found = [judge for judge in known if judge.digest.startswith(name.lower())]
        if len(found) == 1:
            return found[0]
        if found:
            fitting = ", ".join(f"{judge.name} ({judge.digest[:12]})" for judge in found)
            raise InputError(f"{name!r} fits {len(found)} judges: {fitting}; use the whole name or the digest")
        if not known:
            on = "" if criterion is None else f" on `{criterion}`"
            raise InputError(
                f"no judge named {name!r}: no judge has given a verdict{on} yet; run `judge` or `import` first"
            )
        raise InputError(f"no judge named {name!r}; known: {', '.join(judge.name for judge in known)}")

    def registered_at(self, judge: Judge) -> str | None:
        """When the judge could first be influenced no more: None for the baseline, nothing in it is fitted."""
        if judge.kind == JudgeKind.LEXICAL:
            return None
        if judge.prompt is None:
            return judge.time
        sql = "SELECT min(registered_at) AS time FROM prompt_names WHERE digest = ?"
        with self.reading() as db:
            return next(iter(db.query(sql, [judge.prompt])))["time"] or judge.time
