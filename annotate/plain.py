"""Text from files where Streamlit would read Markdown: labels and options. Everything else goes through st.text."""

from __future__ import annotations

KEPT = set(" .,@/+=>-_%()?'\"")
LONGEST = 80


def plain(text: str) -> str:
    """A name that is safe in a label or an option: what could become a link, an image or a formula is a middle dot."""
    kept = "".join(letter if letter.isalnum() or letter in KEPT else "·" for letter in text[:LONGEST])
    return kept if len(text) <= LONGEST else kept + "…"
