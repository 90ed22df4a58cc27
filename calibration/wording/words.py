"""What is said, and the one next step."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """What is said, and the one next step."""

    sentence: str
    next: str

    @property
    def text(self) -> str:
        """Both as one text."""
        return f"{self.sentence} Next: {self.next}"
