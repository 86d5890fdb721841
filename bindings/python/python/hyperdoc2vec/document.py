"""Documents, and dates as people write them."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union

from hyperdoc2vec.checks import string

#: A year, ``2009``, ``"2009-06"``, ``"2009-06-30"``, or a date of ``datetime``.
Date = Union[int, str, datetime.date]


@dataclass(frozen=True)
class Document:
    """A document. Links stand in its text: ``[[id]]``, or ``[words][[id]]`` with words of their own.

    >>> Document("moses", "a toolkit, scored by [BLEU][[bleu]]", title="Moses", date=2007).id
    'moses'
    """

    id: str
    text: str
    title: str | None = None
    authors: Sequence[str] = ()
    date: Date | None = None
    labels: Sequence[str] = ()
    url: str | None = None
    language: str | None = None


def date_text(date: Date | None) -> str | None:
    """A date as the library reads it."""
    if isinstance(date, datetime.date):
        return date.isoformat()[:10]  # without a time of the day
    if isinstance(date, str):
        return string("date", date)
    if hasattr(date, "__index__") and not isinstance(date, bool):
        return str(date)
    if date is None:
        return None
    raise TypeError(f"expected a date (2009, 2009-06 or 2009-06-30), found {type(date).__name__}")
