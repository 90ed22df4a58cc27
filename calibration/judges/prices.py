"""What replies cost: dated prices per million tokens. An unknown model has no cost, never 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibration.data_files import data_path
from calibration.digest import digest
from calibration.errors import InputError

MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens. `cached_input` is for input the provider had in its prefix cache."""

    input: float
    cached_input: float
    output: float


@dataclass(frozen=True)
class Prices:
    """The price file. Its digest stands with every run."""

    date: str
    models: Mapping[str, Price]
    digest: str

    def cost(self, model: str | None, usage: Mapping[str, Any]) -> float | None:
        """US dollars of one reply; None for an unknown model or a reply without token counts."""
        price = self.models.get(model or "")
        tokens = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
        if price is None or not all(isinstance(count, int) for count in tokens):
            return None
        asked, written = usage["prompt_tokens"], usage["completion_tokens"]
        cached = min(usage.get("cached_tokens") or 0, asked)
        cost = (asked - cached) * price.input + cached * price.cached_input + written * price.output
        return float(cost / MILLION)

    def worst(self, model: str | None, text_bytes: int, max_tokens: int) -> float | None:
        """The most one call can cost: no tokenizer makes more tokens than the text has bytes."""
        return self.cost(model, {"prompt_tokens": text_bytes, "completion_tokens": max_tokens})


def load_prices(path: Path | None = None) -> Prices:
    """Read the price file, the bundled one unless another is named. Raises InputError that names what is wrong."""
    import yaml

    source = path or data_path("prices.yaml")
    try:
        content = yaml.safe_load(source.read_text(encoding="utf-8"))
        models = {str(name): _price(entry) for name, entry in content["models"].items()}
        date = str(content["date"])
    except (yaml.YAMLError, UnicodeDecodeError, TypeError, KeyError, ValueError, AttributeError) as error:
        raise InputError(
            f"{source}: not a price file ({error}); it needs date and models with input, cached_input and output"
        ) from error
    shown = {name: [price.input, price.cached_input, price.output] for name, price in models.items()}
    return Prices(date, models, digest({"date": date, "models": shown}))


def _price(entry: Mapping[str, Any]) -> Price:
    numbers = {name: float(entry[name]) for name in ("input", "cached_input", "output")}
    if min(numbers.values()) < 0:
        raise ValueError("a price is below 0")
    return Price(**numbers)
