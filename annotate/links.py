"""From one page to another, with what it should show in the address."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from annotate.plain import plain


def open_button(label: str, page: str, query: Mapping[str, str] | None = None, *, primary: bool = False) -> None:
    """A button that opens a page by its name; `query` becomes the address."""
    query = dict(query or {})
    key = "-".join(["open", page, *query.values()])
    if st.button(plain(label), key=key, type="primary" if primary else "secondary"):
        st.switch_page(_page(page), query_params=query)


def _page(name: str) -> st.Page:
    """The page of that name; Streamlit knows a page by its address."""
    return st.Page(lambda: None, title=name.capitalize(), url_path=name, default=name == "board")
