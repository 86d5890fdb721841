"""Tables as input, through the Arrow PyCapsule interface."""

from __future__ import annotations

import pytest
from conftest import kitchen

import hyperdoc2vec as hd

COLUMNS = ("id", "text", "title", "date", "labels")


def columns() -> dict[str, list]:
    documents = kitchen(6)
    return {
        "id": [document["id"] for document in documents],
        "text": [document["text"] for document in documents],
        "title": [document["title"] if n % 2 else None for n, document in enumerate(documents)],
        "date": [int(document["date"]) for document in documents],
        "labels": [document.get("labels", []) for document in documents],
    }


def table(library: str):
    if library == "pandas":
        return pytest.importorskip("pandas").DataFrame(columns())
    if library == "polars":
        return pytest.importorskip("polars").DataFrame(columns())
    return pytest.importorskip("pyarrow").table(columns())


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_table_is_a_list_of_documents(library):
    corpus = hd.Corpus.from_documents(table(library))
    assert corpus.ids == columns()["id"]
    assert (corpus["spoon"].title, corpus["oven"].title) == (None, "Oven")
    assert (corpus["spoon"].date, corpus["oven"].labels) == ("2001", ["tool", "hot"])
    assert corpus.counts["links"] == 4


def test_years_with_gaps_are_floats_in_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": ["a", "b"], "text": ["one", "two"], "date": [2009, None]})
    assert frame["date"].dtype == "float64"
    corpus = hd.Corpus.from_documents(frame)
    assert (corpus["a"].date, corpus["b"].date) == ("2009", None)


def test_a_table_of_pandas_is_read_without_pyarrow(monkeypatch):
    pandas = pytest.importorskip("pandas")

    def no_pyarrow(self):
        raise ImportError("pyarrow is not installed")

    monkeypatch.setattr(pandas.DataFrame, "__arrow_c_stream__", no_pyarrow)
    frame = table("pandas")
    frame["date"] = [2009, None] * 4
    corpus = hd.Corpus.from_documents(frame.assign(other=object()))
    assert corpus.ids == columns()["id"] and corpus.counts["links"] == 4
    assert (corpus["spoon"].title, corpus["spoon"].date, corpus["oven"].date) == (None, "2009", None)
    assert corpus["oven"].labels == ["tool", "hot"]
    with pytest.raises(ValueError, match='no column "id"; it has text'):
        hd.Corpus.from_documents(pandas.DataFrame({"text": ["a"]}))


def test_days_and_categories_are_read():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "id": [1, 2],
            "text": ["one", "two"],
            "date": pandas.to_datetime(["2009-06-30", None]),
            "labels": pandas.Categorical(["old", None]),
        }
    )
    corpus = hd.Corpus.from_documents(frame)
    assert (corpus["1"].date, corpus["1"].labels, corpus["2"].labels) == ("2009-06-30", ["old"], [])


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"text": ["a"]}, "the table has no column \"id\"; it has text"),
        ({"id": ["a", None], "text": ["x", "y"]}, "document 1: it has no id"),
        ({"id": ["a"], "text": [None]}, "document 0: it has no text"),
        ({"id": ["a", "a"], "text": ["x", "y"]}, "document 1: document 0 has the id"),
        ({"id": ["a"], "text": ["x"], "date": ["soon"]}, "document 0, date: expected a date"),
        ({"id": ["a"], "text": [{"deep": "x"}]}, "column \"text\""),
    ],
)
def test_bad_tables_are_refused(fields, words):
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match=words):
        hd.Corpus.from_documents(pyarrow.table(fields))
