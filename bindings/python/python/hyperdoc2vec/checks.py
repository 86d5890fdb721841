"""Values that come from users, checked before the native half sees them."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

MOST = 2**63 - 1
MOST_THREADS = 1024

T = TypeVar("T")


def optional(check: Callable[[str, Any], T], name: str, value: Any) -> T | None:
    """None, or what the check takes."""
    return None if value is None else check(name, value)


def whole(name: str, value: Any) -> int:
    """A whole number that is not below 0."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise _wrong(name, "a whole number", value)
    number = operator.index(value)
    if not 0 <= number <= MOST:
        # Python refuses to write numbers of thousands of digits.
        shown = number if abs(number) < 10**40 else f"a number of {number.bit_length()} bits"
        raise ValueError(f"{name} is {shown}, but must be from 0 to {MOST}")
    return number


def threads(value: Any) -> int:
    """A number of threads, as the program takes them; 0 for one a core."""
    number = whole("threads", value)
    if number > MOST_THREADS:
        raise ValueError(f"threads is {number}, but must be from 0 (one a core) to {MOST_THREADS}")
    return number


def real(name: str, value: Any) -> float:
    """A number that is finite."""
    if isinstance(value, bool) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        raise _wrong(name, "a number", value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} is {number}, but must be a finite number")
    return number


def flag(name: str, value: Any) -> bool:
    """A truth value, of Python or of NumPy."""
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise _wrong(name, "True or False", value)


def string(name: str, value: Any) -> str:
    """A string, and no half of a character in it."""
    if not isinstance(value, str):
        raise _wrong(name, "a str", value)
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name}: {error}") from None
    return value


def strings(name: str, values: Any) -> list[str]:
    """A list of strings; one string alone is none."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise _wrong(name, "a list of strings", values)
    return [string(name, value) for value in values]


def path(name: str, value: Any) -> str:
    """A path."""
    if isinstance(value, (str, bytes, os.PathLike)):
        return os.fsdecode(value)
    raise _wrong(name, "a path", value)


def integers(name: str, values: Any) -> list[int]:
    """A list of whole numbers of 32 bits."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise _wrong(name, "a list of whole numbers", values)
    found = []
    for value in values:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise _wrong(name, "a whole number", value)
        if not -(2**31) <= operator.index(value) < 2**31:
            raise ValueError(f"{name}: a number has more than 32 bits")
        found.append(operator.index(value))
    return found


def _wrong(name: str, expected: str, found: Any) -> TypeError:
    return TypeError(f"{name}: expected {expected}, found {type(found).__name__}")
