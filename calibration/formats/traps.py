"""Fields that mislead: contexts that nobody retrieved, addresses, labels without a criterion."""

from __future__ import annotations

from typing import Any

from calibration.formats.fields import Fields, blank
from calibration.formats.names import IDEAL_NAMES, UNMAPPED_NAMES, normalised
from calibration.formats.strict_json import NotJson, loads

TWO_WAYS = "can be read two ways, as passages or as addresses; decide with --map contexts={field}, or rename it"
IDEAL = "is the ideal context here, nothing was retrieved; --map contexts={field} if it was retrieved"


def set_aside(fields: Fields) -> None:
    """Send what only looks like contexts or labels to metadata, with a warning, or refuse it."""
    for name in fields.found.rest:
        key = normalised(name)
        if key in IDEAL_NAMES:
            fields.warn("ideal_context")
        elif key in UNMAPPED_NAMES:
            fields.warn("unmapped_label")
    if "contexts" not in fields.mapping:
        _contexts(fields)


def _contexts(fields: Fields) -> None:
    found = fields.found
    several = list(found.words.get("contexts", ()))
    deep_eval = found.has("actualoutput") or found.has("retrievalcontext")
    for one in several:
        if one.key == "context" and deep_eval:
            found.drop(one)
            if found.has("retrievalcontext"):
                fields.warn("ideal_context")
            else:
                fields.refuse(one.field, IDEAL.format(field=one.field))
        elif one.key == "sources" and len(several) > 1:
            found.drop(one)
        elif one.key == "sources" and not _objects(one.value):
            found.drop(one)
            fields.refuse(one.field, TWO_WAYS.format(field=one.field))


def _objects(value: Any) -> bool:
    """Whether sources are passages with text: a list of objects, or nothing at all."""
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            value = loads(value)
        except NotJson:
            return False
    return blank(value) or (isinstance(value, list) and all(isinstance(inner, dict) for inner in value))
