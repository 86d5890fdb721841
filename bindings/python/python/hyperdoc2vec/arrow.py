"""Documents from tables of pandas, polars, pyarrow, DuckDB: whatever speaks the Arrow PyCapsule interface.

The interface hands out C structures (https://arrow.apache.org/docs/format/CStreamInterface.html). A few columns of text
are all that is wanted of them, so they are read here, and nobody has to install anything.
"""

from __future__ import annotations

import ctypes
import datetime
from collections.abc import Callable, Iterator, Sequence
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_void_p
from typing import Any

#: The columns that are read, by the names of a document's fields.
COLUMNS = ("id", "text", "title", "authors", "date", "labels", "url", "language")

NUMBERS = {
    "c": ctypes.c_int8, "C": ctypes.c_uint8, "s": ctypes.c_int16, "S": ctypes.c_uint16, "i": ctypes.c_int32,
    "I": ctypes.c_uint32, "l": ctypes.c_int64, "L": ctypes.c_uint64, "f": ctypes.c_float, "g": ctypes.c_double,
}  # fmt: skip
#: Units of a day, by the letters of the format.
UNITS = {"s": 86_400, "m": 86_400_000, "u": 86_400_000_000, "n": 86_400_000_000_000}
EPOCH = datetime.date(1970, 1, 1).toordinal()


class Schema(ctypes.Structure):
    """The name and type of a column."""


class Array(ctypes.Structure):
    """The values of a column."""


class Stream(ctypes.Structure):
    """Batches of a table, one after the other."""


Schema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_void_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(Schema))),
    ("dictionary", POINTER(Schema)),
    ("release", ctypes.CFUNCTYPE(None, POINTER(Schema))),
    ("private_data", c_void_p),
]
Array._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(Array))),
    ("dictionary", POINTER(Array)),
    ("release", ctypes.CFUNCTYPE(None, POINTER(Array))),
    ("private_data", c_void_p),
]
Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(c_int, POINTER(Stream), POINTER(Schema))),
    ("get_next", ctypes.CFUNCTYPE(c_int, POINTER(Stream), POINTER(Array))),
    ("get_last_error", ctypes.CFUNCTYPE(c_char_p, POINTER(Stream))),
    ("release", ctypes.CFUNCTYPE(None, POINTER(Stream))),
    ("private_data", c_void_p),
]


def is_table(value: object) -> bool:
    """Whether a value is a table of Arrow columns."""
    return hasattr(value, "__arrow_c_stream__")


def documents(table: Any, needed: Sequence[str] = ("id", "text")) -> Iterator[dict[str, Any]]:
    """The rows of a table, as dicts of a document's fields; an error where a needed column is not there."""
    try:
        capsule = table.__arrow_c_stream__()
    except ImportError:
        # pandas works without pyarrow, which makes its streams.
        if not hasattr(table, "itertuples"):
            raise
        yield from _rows(table, needed)
        return
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]
    # The capsule, which lives as long as this generator, releases the stream.
    stream = Stream.from_address(pointer(capsule, b"arrow_array_stream"))
    schema = Schema()
    _check(stream, stream.get_schema(stream, schema))
    try:
        children = [schema.children[n].contents for n in range(schema.n_children)]
        names = [(child.name or b"").decode() for child in children]
        _need(needed, names)
        wanted = [(n, name) for n, name in enumerate(names) if name in COLUMNS]
        while batch := _next(stream):
            try:
                columns = [_column(children[n], batch, n, name) for n, name in wanted]
            finally:
                batch.release(batch)
            fields = [name for _, name in wanted]
            for row in zip(*columns):
                yield dict(zip(fields, row))
    finally:
        schema.release(schema)


def _rows(table: Any, needed: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of a table of pandas."""
    _need(needed, list(table.columns))
    names = [name for name in table.columns if name in COLUMNS]
    for row in table[names].itertuples(index=False, name=None):
        yield {name: _whole(value) for name, value in zip(names, row)}


def _need(needed: Sequence[str], names: Sequence[str]) -> None:
    for name in needed:
        if name not in names:
            raise ValueError(f'the table has no column "{name}"; it has {", ".join(map(str, names))}')


def _check(stream: Stream, code: int) -> None:
    if code != 0:
        message = stream.get_last_error(stream) or b"no reason given"
        raise ValueError(f"the table cannot be read: {message.decode(errors='replace')}")


def _next(stream: Stream) -> Array | None:
    array = Array()
    _check(stream, stream.get_next(stream, array))
    return array if array.release else None


def _column(schema: Schema, batch: Array, number: int, name: str) -> list[Any]:
    child = batch.children[number].contents
    try:
        return _values(schema, child, child.offset + batch.offset, batch.length)
    except ValueError as error:
        raise ValueError(f'column "{name}": {error}') from None


def _values(schema: Schema, array: Array, start: int, length: int) -> list[Any]:
    """The values from ``start`` on, as Python's; None where there is none."""
    format = schema.format.decode()
    if format == "n":
        return [None] * length
    read = _reader(format, schema, array)
    if schema.dictionary:
        words = array.dictionary.contents
        entries = _values(schema.dictionary.contents, words, words.offset, words.length)
        index, read = read, lambda row: entries[int(index(row))]
    valid = array.buffers[0]
    rows = range(start, start + length)
    if not valid:
        return [read(row) for row in rows]
    bits = (ctypes.c_uint8 * (-(-(start + length) // 8))).from_address(valid)
    return [read(row) if bits[row >> 3] >> (row & 7) & 1 else None for row in rows]


def _reader(format: str, schema: Schema, array: Array) -> Callable[[int], Any]:
    """Reads one value of a column."""
    size = array.offset + array.length
    if format in NUMBERS:
        numbers = _buffer(array, 1, NUMBERS[format], size)
        return lambda row: _whole(numbers[row])
    if format in ("u", "U"):
        ends = _buffer(array, 1, c_int32 if format == "u" else c_int64, size + 1)
        text = array.buffers[2]
        return lambda row: ctypes.string_at(text + ends[row], ends[row + 1] - ends[row]).decode() if text else ""
    if format == "vu":
        return _view_reader(array)
    if format == "tdD":
        days = _buffer(array, 1, c_int32, size)
        return lambda row: datetime.date.fromordinal(EPOCH + days[row])
    if format[:2] == "ts" or format == "tdm":
        unit, times = UNITS[format[2]], _buffer(array, 1, c_int64, size)
        return lambda row: datetime.date.fromordinal(EPOCH + times[row] // unit)
    if format in ("+l", "+L", "+vl", "+vL"):
        number = c_int64 if format.endswith("L") else c_int32
        inner, values = schema.children[0].contents, array.children[0].contents
        starts = _buffer(array, 1, number, size + (len(format) == 2))
        # Lists stand one behind the other; where they need not, they have sizes.
        sizes = _buffer(array, 2, number, size) if len(format) == 3 else None

        def read(row: int) -> list[Any]:
            count = starts[row + 1] - starts[row] if sizes is None else sizes[row]
            found = _values(inner, values, values.offset + starts[row], count)
            return [value for value in found if value is not None]

        return read
    raise ValueError(f"expected text, numbers, dates or lists of text, found the Arrow type {format!r}")


def _buffer(array: Array, number: int, kind: Any, length: int) -> Any:
    address = array.buffers[number]
    return (kind * length).from_address(address) if address else []


def _view_reader(array: Array) -> Callable[[int], str]:
    """Text whose short values stand in the views, and whose long ones in buffers of their own."""
    views = array.buffers[1]

    def read(row: int) -> str:
        view = views + 16 * row
        length = c_int32.from_address(view).value
        if length <= 12:
            return ctypes.string_at(view + 4, length).decode()
        buffer, at = c_int32.from_address(view + 8).value, c_int32.from_address(view + 12).value
        return ctypes.string_at(array.buffers[2 + buffer] + at, length).decode()

    return read


def _whole(number: float) -> float | int:
    # Years with gaps are floats in pandas.
    return int(number) if isinstance(number, float) and number.is_integer() else number
