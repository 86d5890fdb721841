"""Tables of HTML, which notebooks show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape


def facts(named: Mapping[str, str]) -> str:
    """Names on the left, facts on the right."""
    rows = (f"<tr><th>{escape(name)}</th><td>{escape(fact)}</td></tr>" for name, fact in named.items())
    return f"<table>{''.join(rows)}</table>"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Rows under a head."""
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    return f"<table><tr>{cells}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
