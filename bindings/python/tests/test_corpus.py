"""Corpora from Python: what comes in, what is kept, what is refused."""

from __future__ import annotations

import datetime
import pickle

import numpy
import pytest
from conftest import kitchen

import hyperdoc2vec as hd


def test_documents_come_back_as_they_went_in(corpus):
    assert len(corpus) == 92
    assert corpus.counts["links"] == 60
    spoon = corpus["spoon"]
    assert (spoon.title, spoon.date, spoon.labels) == ("Wooden spoon", "2001", ["tool"])
    assert corpus["note-0"].text == kitchen()[2]["text"]
    assert [document.id for document in corpus] == corpus.ids
    assert "spoon" in corpus and "fork" not in corpus and 7 not in corpus and "half \ud800" not in corpus


def test_dicts_documents_and_generators_are_the_same(tmp_path):
    def one_by_one():
        for fields in kitchen():
            yield hd.Document(**fields)

    as_dicts = hd.Corpus.from_documents(kitchen(), tmp_path / "a")
    as_objects = hd.Corpus.from_documents(one_by_one(), tmp_path / "b")
    assert as_dicts.about["fingerprint"] == as_objects.about["fingerprint"]


@pytest.mark.parametrize(
    ("date", "kept"),
    [
        (2009, "2009"),
        ("2009-06", "2009-06"),
        (datetime.date(2009, 6, 30), "2009-06-30"),
        (datetime.datetime(2009, 6, 30, 23, 59), "2009-06-30"),
        (numpy.int64(2009), "2009"),
        (None, None),
    ],
)
def test_dates_may_be_written_in_several_ways(date, kept):
    corpus = hd.Corpus.from_documents([{"id": "a", "text": "words", "date": date}])
    assert corpus["a"].date == kept


def test_whole_numbers_may_be_ids_and_gaps_may_be_nan():
    documents = [{"id": id, "text": "words", "title": float("nan"), "labels": None} for id in (12, numpy.int32(13))]
    corpus = hd.Corpus.from_documents(documents)
    assert corpus.ids == ["12", "13"]
    assert corpus["12"].title is None


def test_what_pandas_has_for_nothing_is_nothing():
    pandas = pytest.importorskip("pandas")
    corpus = hd.Corpus.from_documents([{"id": "a", "text": "words", "title": pandas.NA, "date": pandas.NaT}])
    assert (corpus["a"].title, corpus["a"].date) == (None, None)
    with pytest.raises(ValueError, match="document 0: it has no text"):
        hd.Corpus.from_documents([{"id": "a", "text": pandas.NA}])


@pytest.mark.parametrize(
    ("documents", "error", "words"),
    [
        ([], ValueError, "no document"),
        ([{"text": "no id"}], ValueError, "document 0: it has no id"),
        ([{"id": "a", "text": None}], ValueError, "document 0: it has no text"),
        ([{"id": "a", "text": float("nan")}], ValueError, "document 0: it has no text"),
        ([{"id": "a", "text": 7}], TypeError, "document 0, text: expected a str, found int"),
        ([{"id": "", "text": "words"}], ValueError, "the id is empty"),
        ([{"id": "a", "text": "words", "titel": "x"}], ValueError, "no field is called \"titel\""),
        ([{"id": "a", "text": "words", "date": "June"}], ValueError, "document 0, date: expected a date"),
        ([{"id": "a", "text": "words", "date": 10**30}], ValueError, "expected a date"),
        ([{"id": 10**5000, "text": "words"}], ValueError, "document 0, id: "),
        ([{"id": True, "text": "words"}], TypeError, "document 0, id: expected a str, found bool"),
        ([{"id": "a", "text": "words", "labels": 5}], TypeError, "labels: expected a list of str, found int"),
        ([{"id": "a", "text": "words", "labels": [1]}], TypeError, "document 0, labels: expected a str, found int"),
        ([{"id": "a", "text": "one"}, {"id": "a", "text": "two"}], ValueError, "document 1: document 0 has the id"),
        ([{"id": "a", "text": "half \ud800 a character"}], ValueError, "document 0, text: .*surrogates"),
        ([{"id": "a", "text": "x"}, 5], TypeError, "document 1: expected a dict or a Document, found int"),
        ("text", TypeError, "expected several documents, found one str"),
        ({"id": "a", "text": "x"}, TypeError, "expected several documents, found one dict"),
        (5, TypeError, "not iterable"),
        (None, TypeError, "not iterable"),
    ],
)
def test_bad_documents_are_refused_with_their_place(tmp_path, documents, error, words):
    with pytest.raises(error, match=words):
        hd.Corpus.from_documents(documents, tmp_path / "corpus")
    assert list(tmp_path.iterdir()) == []


def test_what_an_iterator_raises_is_raised_and_leaves_nothing(tmp_path):
    def documents():
        yield from kitchen()
        raise ZeroDivisionError("in the middle")

    with pytest.raises(ZeroDivisionError, match="in the middle"):
        hd.Corpus.from_documents(documents(), tmp_path / "corpus")
    assert list(tmp_path.iterdir()) == []


def test_a_corpus_that_is_there_is_only_replaced_on_request(tmp_path):
    path = tmp_path / "corpus"
    hd.Corpus.from_documents(kitchen(3), path)
    with pytest.raises(FileExistsError):
        hd.Corpus.from_documents(kitchen(4), path)
    assert len(hd.Corpus.from_documents(kitchen(4), path, replace=True)) == 6


def test_missing_and_foreign_paths_have_the_usual_exceptions(tmp_path, corpus):
    with pytest.raises(FileNotFoundError):
        hd.Corpus.open(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises((ValueError, FileNotFoundError)):
        hd.Corpus.open(tmp_path / "empty")
    with pytest.raises(TypeError):
        hd.Corpus.open(None)
    with pytest.raises(KeyError, match="no document has the id .*did you mean .*spoon"):
        corpus["spon"]


def test_a_corpus_travels_by_its_path_and_fingerprint(corpus, tmp_path):
    assert pickle.loads(pickle.dumps(corpus)).ids == corpus.ids
    path = tmp_path / "corpus"
    packed = pickle.dumps(hd.Corpus.from_documents(kitchen(3), path))
    hd.Corpus.from_documents(kitchen(4), path, replace=True)
    with pytest.raises(ValueError, match="not the corpus that was pickled"):
        pickle.loads(packed)
    with pytest.raises(TypeError, match="build it with a path"):
        pickle.dumps(hd.Corpus.from_documents(kitchen(3)))


def test_markdown_is_imported_with_its_losses(tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "spoon.md").write_text("# Spoon\n\nMade of wood.\n")
    (notes / "soup.md").write_text("# Soup\n\nStir with a [[spoon]], not with a [[fork]].\n")
    corpus = hd.import_("markdown", notes)
    assert len(corpus) == 2 and corpus.counts["links"] == 1
    assert any(loss.count == 1 and "fork" in loss.samples[0] for loss in corpus.losses)
    with pytest.raises(ValueError, match="expected a format .*jsonl"):
        hd.import_("markdwon", notes)
    with pytest.raises(FileNotFoundError):
        hd.import_("markdown", tmp_path / "none")


def test_progress_is_reported_and_may_stop_an_import():
    seen = []
    hd.Corpus.from_documents(kitchen(1000), progress=seen.append)
    assert all(isinstance(one, hd.Progress) for one in seen)

    def slow():
        import time

        for fields in kitchen(2000):
            time.sleep(0.001)
            yield fields

    def stop(progress):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        hd.Corpus.from_documents(slow(), progress=stop)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"namespaces": ["a"]}, TypeError, "namespaces: expected a whole number, found str"),
        ({"namespaces": 0}, TypeError, "namespaces: expected a list of whole numbers, found int"),
        ({"namespaces": [2**70]}, ValueError, "namespaces: a number has more than 32 bits"),
        ({"metadata": 7}, TypeError, "metadata: expected a path, found int"),
        ({"files": 7}, TypeError, "files: expected a path, found int"),
        ({"texts": 7}, TypeError, "texts: expected a path, found int"),
        ({"base_url": "half \ud800"}, ValueError, "base_url: .*surrogates"),
        ({"include": ["half \ud800"]}, ValueError, "include: .*surrogates"),
    ],
)
def test_bad_options_of_an_import_are_refused_by_name(tmp_path, arguments, error, words):
    with pytest.raises(error, match=words):
        hd.import_("markdown", tmp_path, **arguments)
    with pytest.raises(ValueError, match="needs a file or a directory"):
        hd.import_("markdown")
    with pytest.raises(TypeError, match="inputs: expected a path, found list"):
        hd.import_("markdown", [tmp_path])


def test_sections_become_documents(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Sauces\n\nMany kinds.\n\n## Pesto\n\nBasil, oil and cheese.\n")
    assert len(hd.import_("markdown", tmp_path)) == 1
    assert len(hd.import_("markdown", tmp_path, sections=True)) > 1
