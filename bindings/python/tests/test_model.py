"""Models: answers, vectors, files."""

from __future__ import annotations

import gc
import os
import pickle
import shutil

import numpy as np
import pytest
from conftest import kitchen

import hyperdoc2vec as hd


def test_a_text_is_answered_with_hits_that_print_and_convert(model):
    answer = model.recommend("thick sauce is stirred with a [[?]]", top=3, explain=True)
    assert (answer[0].id, answer[0].title, answer[0].date) == ("spoon", "Wooden spoon", "2001")
    assert len(answer) == 3 and [hit.id for hit in answer] == answer.ids
    assert answer[-1].id == answer.ids[-1] and [hit.id for hit in answer[:2]] == answer.ids[:2]
    assert answer.ranking == model.rankings[0]
    assert "spoon" in repr(answer) and "<td>spoon</td>" in answer._repr_html_()
    why = answer[0].why
    assert why["bm25"]["shares"] and why["contexts"][0]["source"].startswith("note-")
    first = answer.to_dicts()[0]
    assert first["id"] == "spoon" and first["why"] == why
    with pytest.raises(IndexError):
        answer[3]


def test_an_answer_becomes_a_frame(model):
    pytest.importorskip("pandas")
    answer = model.recommend("a hot box for bread", top=2)
    frame = answer.to_frame()
    assert list(frame["id"]) == answer.ids and "probability" in frame.columns


def test_an_answer_without_hits_says_why(model):
    answer = model.recommend("stir the sauce", before=1900)
    assert len(answer) == 0 and answer.reason
    assert answer.reason in repr(answer) and "no hits: " in answer._repr_html_()
    assert answer.to_dicts() == []


def test_a_list_has_the_answers_of_its_texts(model):
    texts = ["stir the sauce [[?]]", "the dough of the bread [[?]]", "sauce and bread"]
    for rank in ("embedding", "bm25-cited", None):
        together = model.recommend(texts, rank=rank, top=4)
        alone = [model.recommend(text, rank=rank, top=4) for text in texts]
        assert [one.to_dicts() for one in together] == [one.to_dicts() for one in alone]
    assert model.recommend([]) == []
    assert [one.ids for one in model.recommend(iter(texts))] == [model.recommend(text).ids for text in texts]


def test_filters_are_heeded(model):
    text = "stir the sauce and heat the oven"
    assert "spoon" not in model.recommend(text, exclude=["spoon"]).ids
    assert set(model.recommend(text, only=["tool"]).ids) == {"spoon", "oven"}
    assert set(model.recommend(text, before=2002).ids) == {"spoon"}
    assert "note-0" not in model.recommend(text, source="note-0", top=92).ids
    assert model.recommend(text, source_text="bread and dough", top=1).ids


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"text": ""}, ValueError, "no words"),
        ({"text": ["fine", ""]}, ValueError, "text 1: it has no words"),
        ({"text": ["fine", None]}, TypeError, "text 1: expected a str, found NoneType"),
        ({"text": 7}, TypeError, "expected a text or a list of texts, found int"),
        ({"text": "half \ud800"}, ValueError, "surrogates"),
        ({"text": "x", "source": "spon"}, KeyError, "spoon"),
        ({"text": "x", "exclude": ["spon"]}, KeyError, "spoon"),
        ({"text": "x", "exclude": "spoon"}, TypeError, "exclude: expected a list of strings, found str"),
        ({"text": "x", "only": [7]}, TypeError, "only: expected a str, found int"),
        ({"text": "x", "only": None}, TypeError, "only: expected a list of strings, found NoneType"),
        ({"text": "x", "source": 7}, TypeError, "source: expected a str, found int"),
        ({"text": "x", "source_text": b"x"}, TypeError, "source_text: expected a str, found bytes"),
        ({"text": "x", "rank": 7}, TypeError, "rank: expected a str, found int"),
        ({"text": "x", "rank": "half \ud800"}, ValueError, "rank: .*surrogates"),
        ({"text": "x", "exclude": ["half \ud800"]}, ValueError, "exclude: .*surrogates"),
        ({"text": "x", "before": "half \ud800"}, ValueError, "date: .*surrogates"),
        ({"text": "x", "before": 7.5}, TypeError, "expected a date .*, found float"),
        ({"text": "x", "explain": "yes"}, TypeError, "explain: expected True or False, found str"),
        ({"text": "x", "min_probability": "high"}, TypeError, "min_probability: expected a number, found str"),
        ({"text": "x", "min_probability": float("nan")}, ValueError, "min_probability is nan"),
        ({"text": "x", "min_probability": 10**400}, ValueError, "min_probability is inf"),
        ({"text": "x", "top": None}, TypeError, "top: expected a whole number, found NoneType"),
        ({"text": "x", "top": 10**5000}, ValueError, "top is a number of 16610 bits"),
        ({"text": "x", "rank": "best"}, ValueError, "expected a ranking .*hybrid"),
        ({"text": "x", "before": "soon"}, ValueError, "expected a date"),
        ({"text": "x", "top": -1}, ValueError, "top is -1"),
        ({"text": "x", "top": "3"}, TypeError, "top: expected a whole number, found str"),
        ({"text": "x", "top": 10**30}, ValueError, "top is 1000"),
    ],
)
def test_bad_questions_are_refused_in_clear_words(model, arguments, error, words):
    with pytest.raises(error, match=words):
        model.recommend(**arguments)


def test_vectors_are_views_of_the_mapped_file(model):
    assert model.doc_in.shape == (92, 12) and model.doc_in.dtype == np.float32
    assert model.word_in.shape == (len(model.words), 12)
    for vectors in (model.doc_in, model.doc_out, model.word_in, model.word_out):
        assert not vectors.flags.writeable and not vectors.flags.owndata
        with pytest.raises(ValueError, match="read-only"):
            vectors[0, 0] = 1
    address = model.doc_in.__array_interface__["data"][0]
    assert model.doc_in.__array_interface__["data"][0] == address, "the same memory each time"


def test_views_outlive_the_model_and_its_file(model, tmp_path):
    copy = hd.Model.open(shutil.copy(model.path, tmp_path / "copy.model"))
    expected = model.doc_out.copy()
    vectors, row = copy.doc_out, copy.doc_out[3]
    del copy
    gc.collect()
    os.remove(tmp_path / "copy.model")
    assert np.array_equal(vectors, expected) and np.array_equal(row, expected[3])


def test_a_model_that_is_replaced_leaves_the_open_one_alone(corpus, tmp_path):
    path = tmp_path / "m"
    first = hd.train(corpus, path, dim=4, hybrid=False, epochs=1)
    before = first.doc_in.copy()
    second = hd.train(corpus, path, dim=6, hybrid=False, epochs=1, replace=True)
    assert np.array_equal(first.doc_in, before) and second.dim == 6
    assert first.recommend("stir the sauce")[0].id


def test_embedded_texts_are_near_their_like(model):
    vectors = model.embed(["stir the sauce with a spoon", "heat the oven for bread", "qwertz"])
    assert vectors.shape == (3, 12) and vectors.dtype == np.float32 and vectors.flags.writeable
    assert not vectors[2].any(), "no known word"
    assert np.array_equal(model.embed("heat the oven for bread"), vectors[1])
    assert model.embed([]).shape == (0, 12)
    near = model.similar(vectors[1], top=1)[0]
    assert near.id == model.dv.similar_by_vector(vectors[1], topn=1)[0][0]
    assert np.array_equal(model.embed("stir with a [spoon][[spoon]]", marked=True), model.embed("stir with a spoon"))
    with pytest.raises(TypeError, match="text 0: expected a str, found float"):
        model.embed([1.5])


def test_neighbours_are_found_by_both_sides(model):
    assert len(model.similar("spoon", by="out", top=3)) == 3
    words = model.similar_words("sauce", top=2)
    assert len(words) == 2 and all(isinstance(score, float) for _, score in words)
    with pytest.raises(KeyError, match="did you mean|spoon"):
        model.similar("spon")
    with pytest.raises(ValueError, match="expected vectors"):
        model.similar("spoon", by="both")
    with pytest.raises(ValueError, match="numbers"):
        model.similar(np.zeros(5))
    with pytest.raises(ValueError, match="one vector"):
        model.similar(model.doc_in)


def test_views_by_name_do_what_gensim_does(model):
    assert np.array_equal(model.dv["spoon"], model.doc_in[model.ids.index("spoon")])
    assert np.array_equal(model.wv[["sauce", "bread"]][1], model.wv["bread"])
    assert model.wv.key_to_index["sauce"] == model.words.index("sauce")
    assert "sauce" in model.wv and "fork" not in model.wv and len(model.wv) == len(model.words)
    assert model.wv.similarity("sauce", "sauce") == pytest.approx(1)
    nearest = model.dv_out.most_similar("spoon", topn=5)
    ours = model.similar("spoon", by="out", top=5)
    assert [name for name, _ in nearest] == [hit.id for hit in ours]
    assert nearest[0][1] == pytest.approx(ours[0].score, abs=1e-5)
    mixed = model.wv.most_similar(positive=["sauce", "bread"], negative=["oven"], topn=2)
    assert len(mixed) == 2 and not {"sauce", "bread", "oven"} & {name for name, _ in mixed}
    for wrong, error in (("fork", KeyError), ([], ValueError), (np.zeros(3), ValueError)):
        with pytest.raises(error):
            model.wv.most_similar(wrong)


def test_gensim_gets_the_same_vectors(model):
    pytest.importorskip("gensim", reason="gensim is not installed: to_gensim() was not tried")
    theirs = model.wv.to_gensim()
    assert np.array_equal(theirs["sauce"], model.wv["sauce"])
    assert theirs.most_similar("sauce", topn=1)[0][0] == model.wv.most_similar("sauce", topn=1)[0][0]


def test_documents_are_added_without_training(model, tmp_path):
    new = [{"id": "new", "text": "stir the soup with a [[spoon]]", "title": "Soup"}]
    larger = model.add(new, tmp_path / "larger.model")
    assert len(larger) == 93 and larger.ids[-1] == "new" and "new" not in model
    assert np.array_equal(larger.doc_in[:92], model.doc_in)
    with pytest.raises(FileExistsError):
        model.add(new, tmp_path / "larger.model")
    with pytest.raises(ValueError):
        model.add(kitchen()[:3])


def test_exports_are_read_by_numpy(model, tmp_path):
    model.export(tmp_path / "out.npy", "doc_out")
    assert np.array_equal(np.load(tmp_path / "out.npy"), model.doc_out)
    assert len((tmp_path / "out.metadata.tsv").read_text().splitlines()) == 93
    model.export(tmp_path / "words.txt", "word-in", normalize=True)
    assert (tmp_path / "words.txt").read_text().split()[:2] == [str(len(model.words)), "12"]
    with pytest.raises(FileExistsError):
        model.export(tmp_path / "out.npy", "doc-out")
    with pytest.raises(ValueError, match="ending does not tell"):
        model.export(tmp_path / "out.xyz")
    with pytest.raises(ValueError, match="expected vectors"):
        model.export(tmp_path / "other.npy", "doc-both")
    with pytest.raises(FileNotFoundError):
        model.export(tmp_path / "none" / "out.npy")


def test_only_files_of_their_kind_are_replaced(model, corpus, tmp_path):
    path = shutil.copy(model.path, tmp_path / "m.npy")
    notes = tmp_path / "notes.txt"
    notes.write_text("Dear diary,")
    opened = hd.Model.open(path)
    for write in [
        lambda: opened.export(path, replace=True),
        lambda: opened.export(notes, format="tsv", replace=True),
        lambda: opened.save(notes, replace=True),
        lambda: opened.add([{"id": "new", "text": "sauce"}], notes, replace=True),
        lambda: hd.train(corpus, notes, dim=4, hybrid=False, epochs=1, replace=True),
    ]:
        with pytest.raises(ValueError, match="never replaced"):
            write()
    (tmp_path / "new.model.checkpoint").write_text("Dear diary,")
    with pytest.raises(ValueError, match="checkpoint"):
        hd.train(corpus, tmp_path / "new.model", dim=4, hybrid=False, epochs=1, replace=True)
    assert hd.Model.open(path).fingerprint == model.fingerprint
    assert notes.read_text() == (tmp_path / "new.model.checkpoint").read_text() == "Dear diary,"
    assert sorted(os.listdir(tmp_path)) == ["m.npy", "new.model.checkpoint", "notes.txt"]
    opened.export(tmp_path / "v.npy")
    opened.export(tmp_path / "v.npy", "doc-out", replace=True)
    assert np.array_equal(np.load(tmp_path / "v.npy"), model.doc_out)


def test_a_model_is_saved_as_it_was_opened(model, tmp_path):
    path = shutil.copy(model.path, tmp_path / "m")
    opened = hd.Model.open(path)
    model.add([{"id": "new", "text": "sauce"}], path, replace=True)
    assert opened.save(tmp_path / "kept").fingerprint == model.fingerprint
    # Also over the file that took its place, and nothing is left beside it.
    assert opened.save(path, replace=True).fingerprint == model.fingerprint
    assert sorted(os.listdir(tmp_path)) == ["kept", "m"]


def test_suggestions_can_be_put_into_the_draft(model):
    draft = "# Ängste\n\nStir the sauce with a wooden spoon until the sauce is thick.\n"
    found = model.suggest(draft, min_probability=0.01)
    assert found and found[0].id == "spoon" and "spoon" in repr(found)
    assert draft[found[0].start : found[0].end] == found[0].words
    assert "spoon](" in found.apply() or "[[spoon" in found.apply()
    assert found.to_dicts()[0]["id"] == "spoon" and found[0].why
    for never in (["spoon", "wooden spoon"], "spoon"):
        assert all(one.id != "spoon" for one in model.suggest(draft, min_probability=0.01, never=never))
    assert len(model.suggest("", format="plain")) == 0
    with pytest.raises(ValueError, match="expected a format .*latex"):
        model.suggest("x", format="word")


def test_suggestions_become_a_frame(model):
    pytest.importorskip("pandas")
    found = model.suggest("Stir the sauce with a wooden spoon.", min_probability=0.01)
    assert list(found.to_frame()["id"]) == [one.id for one in found] != []
    assert list(model.suggest("").to_frame().columns) == list(found.to_frame().columns)


def test_a_model_tells_what_it_is(model):
    assert (len(model), model.dim, model.method) == (92, 12, "h-d2v")
    assert "92 documents" in repr(model) and "<td>92</td>" in model._repr_html_()
    assert model.about["params"]["dim"] == 12
    assert model.labels[1] == ("tool", "hot") and model.titles[0] == "Wooden spoon"
    assert "hybrid" in hd.RANKINGS and "h-d2v" in hd.METHODS and "markdown" in hd.FORMATS


def test_models_travel_by_path_and_checksum(model, tmp_path):
    path = shutil.copy(model.path, tmp_path / "m")
    packed = pickle.dumps(hd.Model.open(path))
    assert len(packed) < 1000
    assert pickle.loads(packed).fingerprint == model.fingerprint
    model.add([{"id": "new", "text": "sauce"}], path, replace=True)
    with pytest.raises(ValueError, match="not the model that was pickled"):
        pickle.loads(packed)
    os.remove(path)
    with pytest.raises(FileNotFoundError):
        pickle.loads(packed)


def test_a_model_without_a_path_travels_whole_and_can_be_saved(corpus, tmp_path):
    model = hd.train(corpus, dim=4, hybrid=False, epochs=1)
    folder = os.path.dirname(model.path)
    again = pickle.loads(pickle.dumps(model))
    assert again.path != model.path and np.array_equal(again.doc_in, model.doc_in)
    saved = model.save(tmp_path / "kept.model")
    with pytest.raises(FileExistsError):
        model.save(tmp_path / "kept.model")
    del model
    gc.collect()
    assert not os.path.exists(folder) and len(saved) == 92


def test_other_files_are_refused(tmp_path, corpus):
    with pytest.raises(FileNotFoundError):
        hd.Model.open(tmp_path / "none.model")
    (tmp_path / "text").write_text("no model at all")
    with pytest.raises(ValueError, match="text"):
        hd.Model.open(tmp_path / "text")
    with pytest.raises((ValueError, IsADirectoryError)):
        hd.Model.open(corpus.path)
    for wrong in (None, 7, "with\0zero"):
        with pytest.raises((TypeError, ValueError)):
            hd.Model.open(wrong)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda model: model.similar("spoon", top=-1), ValueError, "top is -1"),
        (lambda model: model.similar("spoon", by=1), TypeError, "by: expected a str, found int"),
        (lambda model: model.similar(None), (TypeError, ValueError), None),
        (lambda model: model.similar(["x"]), ValueError, None),
        (lambda model: model.similar_words("sauce", top=1.5), TypeError, "top: expected a whole number, found float"),
        (lambda model: model.similar_words(7), TypeError, None),
        (lambda model: model.similar(np.full(12, np.nan)), ValueError, "not finite"),
        (lambda model: model.wv.similar_by_vector(np.full(12, np.inf)), ValueError, "not finite"),
        (lambda model: model.embed(None), TypeError, "expected a text or a list of texts, found NoneType"),
        (lambda model: model.embed("x", marked="yes"), TypeError, "marked: expected True or False, found str"),
        (lambda model: hd.Model.open(model.path, in_memory=1), TypeError, "in_memory: expected True or False"),
        (lambda model: model.save("x", replace="yes"), TypeError, "replace: expected True or False, found str"),
        (lambda model: model.embed(["half \ud800"]), ValueError, "text 0: .*surrogates"),
        (lambda model: model.suggest(7), TypeError, "text: expected a str, found int"),
        (lambda model: model.suggest("half \ud800"), ValueError, "text: .*surrogates"),
        (lambda model: model.suggest("x", max=-1), ValueError, "max is -1"),
        (lambda model: model.suggest("x", never=5), TypeError, "never: expected a list of strings, found int"),
        (lambda model: model.suggest("x", format=None), TypeError, "format: expected a str, found NoneType"),
        (lambda model: model.wv[7], TypeError, "key: expected a list of strings, found int"),
        (lambda model: model.wv.most_similar("sauce", topn="3"), TypeError, "topn: expected a whole number, found str"),
        (lambda model: model.add([]), ValueError, "no document"),
        (lambda model: model.add([{"id": "x", "text": "y"}], threads=-1), ValueError, "threads is -1"),
        (lambda model: model.add(7), TypeError, "not iterable"),
        (lambda model: model.export("x.npy", 7), TypeError, "what: expected a str, found int"),
        (lambda model: model.export("x.npy", replace=1), TypeError, "replace: expected True or False, found int"),
        (lambda model: model.export(None), TypeError, None),
        (lambda model: model.save("none/x.model"), FileNotFoundError, None),
    ],
)
def test_bad_calls_are_refused_in_clear_words(model, tmp_path, monkeypatch, call, error, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=words):
        call(model)
    assert list(tmp_path.iterdir()) == []
