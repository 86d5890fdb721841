"""Numbers that come from users, checked before the native half sees them."""

from __future__ import annotations

import operator
from typing import Any

MOST = 2**63 - 1


def whole(name: str, value: Any) -> int | None:
    """A whole number that is not below 0, or None."""
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise TypeError(f"{name}: expected a whole number, found {type(value).__name__}")
    if not 0 <= number <= MOST:
        raise ValueError(f"{name} is {number}, but must be from 0 to {MOST}")
    return number
