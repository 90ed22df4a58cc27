"""`prompts add`, `list`, `show` and `diff` on a real database."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from calibration.cli import main
from calibration.prompts import parse_prompt
from calibration.store import Store

BUNDLED = Path(__file__).resolve().parents[1] / "data" / "prompts"
TEXT = "Judge.\n\nQuestion: {question}\nReference: {reference}\nAnswer: {answer}\n"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "calibration.db"


@pytest.fixture
def run(db: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs one `prompts` command and returns exit code, stdout and stderr."""

    def command(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(["prompts", *map(str, arguments), "--db", str(db)])
        out, err = capsys.readouterr()
        assert isinstance(stop.value.code, int)
        return stop.value.code, out, err

    return command


@pytest.fixture
def typed(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "mine.txt"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_plain_text_becomes_the_first_version_and_is_shown(run: Run, db: Path, typed: Callable[[str], Path]) -> None:
    options = ("--criterion", "correct", "--name", "mine", "--note", "a start", "--author", "ana")
    code, out, err = run("add", typed(TEXT), *options)
    (held,) = Store(db).prompts()
    assert code == 0
    assert out.endswith("# user\n{{ sample }}\n")
    assert "note: a start\nauthor: ana\n" in out
    assert err == f"stored mine-v1 ({held.digest[:12]})\n"
    shown = parse_prompt(out, "mine/v1.md")
    assert (shown.digest, shown.note, shown.author, held.label) == (held.digest, "a start", "ana", "mine-v1")


def test_the_next_version_of_a_name_has_the_one_before_as_parent(
    run: Run, db: Path, typed: Callable[[str], Path]
) -> None:
    run("add", typed(TEXT), "--criterion", "correct", "--name", "mine")
    code, _, err = run("add", typed(f"Be strict.\n{TEXT}"), "--criterion", "correct", "--name", "mine")
    first, second = Store(db).prompts("mine")
    assert (code, err.split(" (")[0]) == (0, "stored mine-v2")
    assert (second.version, second.parent) == (2, first.digest)


def test_the_same_text_again_is_refused(run: Run, typed: Callable[[str], Path]) -> None:
    options = ("--criterion", "correct", "--name", "mine")
    run("add", typed(TEXT), *options)
    code, _, err = run("add", typed(TEXT), *options)
    assert (code, err) == (2, "error: mine-v1 has exactly this text already\n")


def test_an_unfenced_prompt_is_stored_with_a_warning(run: Run, db: Path, typed: Callable[[str], Path]) -> None:
    code, _, err = run("add", typed("Is {answer} right?"), "--criterion", "correct", "--name", "mine")
    assert code == 0
    assert "warning: mine-v1 prints answer or contexts outside the sample block (unfenced)" in err
    assert Store(db).prompts()[0].unfenced
    assert "[unfenced]" in run("list")[1]


def test_a_finished_file_is_stored_as_it_is_and_adding_it_again_changes_nothing(run: Run, db: Path) -> None:
    for _ in range(2):
        assert run("add", BUNDLED / "correct" / "v1.md")[0] == 0
    assert run("add", BUNDLED / "correct" / "v2.md", "--criterion", "correct", "--name", "correct")[0] == 0
    first, second = Store(db).prompts()
    assert (first.label, second.label, second.parent) == ("correct-v1", "correct-v2", first.digest)


def test_a_finished_file_elsewhere_gets_the_next_number_of_its_name(run: Run, db: Path, tmp_path: Path) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text((BUNDLED / "correct" / "v1.md").read_text(encoding="utf-8"), encoding="utf-8")
    assert run("add", draft)[0] == 0
    assert run("add", draft)[0] == 0
    draft.write_text((BUNDLED / "correct" / "v2.md").read_text(encoding="utf-8"), encoding="utf-8")
    assert run("add", draft)[0] == 0
    assert [prompt.version for prompt in Store(db).prompts()] == [1, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--note", "x"), "a prompt file has its own note and author; leave --note and --author out"),
        (("--name", "mine"), "--name mine differs from the file, which says correct; leave it out"),
        (("--criterion", "faithful"), "--criterion faithful differs from the file, which says correct"),
    ],
)
def test_an_option_that_contradicts_a_finished_file_is_refused(
    run: Run, db: Path, options: tuple[str, str], message: str
) -> None:
    code, _, err = run("add", BUNDLED / "correct" / "v1.md", *options)
    assert code == 2
    assert message in err
    assert not db.exists()


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (TEXT, (), "mine.txt: a plain text needs --criterion and --name"),
        (TEXT, ("--criterion", "tone", "--name", "mine"), "unknown criterion 'tone'; use correct or faithful"),
        (TEXT, ("--criterion", "correct", "--name", "Mine"), '"name" must be lower-case letters'),
        ("{contex}", ("--criterion", "correct", "--name", "mine"), 'mine.txt:1: unknown variable "contex"; use'),
        ("---\nformat: 1\n---\n", (), 'mine.txt:1: missing key "name"'),
    ],
)
def test_a_refused_text_exits_2_and_makes_no_database(
    run: Run, db: Path, typed: Callable[[str], Path], text: str, options: tuple[str, ...], message: str
) -> None:
    code, out, err = run("add", typed(text), *options)
    assert (code, out) == (2, "")
    assert message in err
    assert not db.exists()


def test_bytes_that_are_not_utf_8_are_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(b"\xff")
    assert "mine.txt:1: is not valid UTF-8" in run("add", path, "--criterion", "correct", "--name", "mine")[2]


def test_a_name_keeps_its_criterion(run: Run, typed: Callable[[str], Path]) -> None:
    run("add", typed(TEXT), "--criterion", "correct", "--name", "mine")
    code, _, err = run("add", typed("Judge."), "--criterion", "faithful", "--name", "mine")
    assert (code, err) == (2, "error: mine-v1 judges correct, not faithful; choose another --name\n")


def test_list_shows_every_version_and_json_holds_every_field(run: Run, db: Path) -> None:
    for version in ("v1", "v2"):
        run("add", BUNDLED / "faithful" / f"{version}.md")
    code, out, _ = run("list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["prompt", "faithful-v1", "faithful-v2"]
    found = json.loads(run("list", "--json")[1])
    held = Store(db).prompts()
    assert [one["digest"] for one in found] == [prompt.digest for prompt in held]
    keys = "prompt name version criterion digest parent note author created examples unfenced registered_at"
    assert list(found[1]) == keys.split()
    assert (found[1]["prompt"], found[1]["parent"]) == ("faithful-v2", held[0].digest)


def test_list_of_a_project_without_prompts_says_how_to_add_one(run: Run, db: Path) -> None:
    Store(db)
    assert run("list") == (0, "", "no prompts yet; add one with `judge-calibration prompts add FILE`\n")
    assert json.loads(run("list", "--json")[1]) == []


def test_show_prints_the_file_by_name_or_digest(run: Run, db: Path) -> None:
    path = BUNDLED / "correct" / "v1.md"
    run("add", path)
    code, out, _ = run("show", "correct-v1")
    assert code == 0
    assert parse_prompt(out, str(path)) == parse_prompt(path.read_text(encoding="utf-8"), str(path))
    assert run("show", Store(db).prompts()[0].digest[:8])[1] == out


def test_show_of_an_unknown_name_lists_the_known_ones(run: Run) -> None:
    run("add", BUNDLED / "correct" / "v1.md")
    code, _, err = run("show", "correct-v9")
    assert (code, err) == (2, "error: no prompt named 'correct-v9'; known: correct-v1\n")


def test_diff_shows_the_changed_lines_of_the_text(run: Run, typed: Callable[[str], Path]) -> None:
    options = ("--criterion", "correct", "--name", "mine")
    run("add", typed(TEXT), *options)
    run("add", typed(TEXT.replace("Judge.", "Judge strictly.")), *options)
    code, out, _ = run("diff", "mine-v1", "mine-v2")
    assert code == 0
    assert out.splitlines()[:2] == ["--- mine-v1", "+++ mine-v2"]
    assert "-Judge.\n+Judge strictly.\n" in out
    assert "digest" not in out
    assert run("diff", "mine-v1", "mine-v1") == (0, "", "mine-v1 and mine-v1 have the same text\n")


def test_without_a_database_the_message_says_how_to_make_one(run: Run) -> None:
    code, _, err = run("list")
    assert code == 5
    assert "no database here yet" in err
