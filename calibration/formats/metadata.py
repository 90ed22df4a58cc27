"""Metadata of a sample: its own, and every field that stands for nothing else."""

from __future__ import annotations

from typing import Any

from calibration.formats.fields import Fields, blank
from calibration.formats.names import HUMAN, JUDGED
from calibration.formats.strict_json import NotJson, loads

GIVERS = (("annotator", HUMAN), ("judge", JUDGED))


def read_metadata(fields: Fields, reference_kind: str | None) -> dict[str, Any]:
    """What goes beside the sample, unknown fields under their own names."""
    metadata = {name: value for name, value in fields.found.rest.items() if not (fields.raw.cells and value == "")}
    for giver, columns in GIVERS:
        if not any(fields.found.words.get(column) for column in columns):
            metadata |= {f.field: f.value for f in fields.found.words.get(giver, ()) if not blank(f.value)}
    own = _own(fields)
    for name in own.keys() & metadata.keys():
        if own[name] != metadata[name]:
            fields.refuse(name, "stands beside metadata and inside it with another value; rename one of the two")
    metadata |= own
    if reference_kind is not None:
        metadata.setdefault("reference_kind", reference_kind)
    fields.storable("metadata", metadata)
    return metadata


def _own(fields: Fields) -> dict[str, Any]:
    """The field `metadata`: an object, in a CSV as JSON text; anything else is kept under its name."""
    found = fields.single("metadata")
    if found is None or blank(found.value):
        return {}
    value = found.value
    if fields.raw.cells and value.strip().startswith("{"):
        try:
            value = loads(value)
        except NotJson as error:
            fields.refuse(found.field, str(error))
    return value if isinstance(value, dict) else {"metadata": value}
