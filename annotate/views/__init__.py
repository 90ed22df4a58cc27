"""One thin module a page, each with a function `page()`: fetch, show, record."""
