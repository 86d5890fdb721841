"""The estimator of scikit-learn."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from conftest import kitchen

pytest.importorskip("sklearn", reason="scikit-learn is not installed: its estimator was not tried")

from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError, SkipTestWarning  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.utils import estimator_checks  # noqa: E402

from hyperdoc2vec import HyperDoc2Vec  # noqa: E402

#: The checks that need no table of numbers as input. scikit-learn's own choice for estimators of texts is one of them
#: alone, so they are named here, and a missing one fails.
CHECKS = [
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_feature_names_out_error",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


def test_the_checks_of_scikit_learn_are_among_these():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        chosen = list(estimator_checks.estimator_checks_generator(HyperDoc2Vec(), legacy=True))
    assert {check.func.__name__ for _, check in chosen} <= set(CHECKS)
    assert len(CHECKS) == 11


@pytest.mark.parametrize("check", CHECKS)
def test_the_estimator_passes(check):
    getattr(estimator_checks, check)("HyperDoc2Vec", HyperDoc2Vec(dim=4, epochs=1, content_epochs=1))


def texts() -> tuple[list[str], list[int]]:
    cooking, baking = "stir the sauce with a wooden spoon until it is thick", "heat the oven before the dough goes in"
    return [cooking, baking] * 30, [0, 1] * 30


def test_a_pipeline_learns_classes_and_can_be_pickled():
    X, y = texts()
    pipeline = make_pipeline(HyperDoc2Vec(dim=8), LogisticRegression()).fit(X, y)
    assert pipeline.score(X, y) == 1
    again = pickle.loads(pickle.dumps(pipeline))
    assert list(again.predict(X[:2])) == [0, 1]


def test_linked_documents_are_learnt_with_their_links():
    vectors = HyperDoc2Vec(dim=8, epochs=1).fit(kitchen())
    assert vectors.model_.method == "h-d2v"
    assert vectors.transform(kitchen()[:3]).shape == (3, 8)
    assert list(vectors.get_feature_names_out())[:2] == ["hyperdoc2vec0", "hyperdoc2vec1"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_table_is_fitted_and_transformed(library):
    tables = pytest.importorskip(library)
    notes = [{name: note[name] for name in ("id", "title", "text")} for note in kitchen()]
    table = tables.Table.from_pylist(notes) if library == "pyarrow" else tables.DataFrame(notes)
    estimator = HyperDoc2Vec(dim=4, epochs=1).fit(table)
    assert np.array_equal(estimator.transform(table), estimator.transform(notes))
    only_text = table.select(["text"]) if library != "pandas" else table[["text"]]
    assert np.array_equal(estimator.transform(only_text), estimator.transform(notes))
    with pytest.raises(ValueError, match='no column "text"; it has title'):
        estimator.transform(table.select(["title"]) if library != "pandas" else table[["title"]])


def test_fitting_gives_itself_and_the_same_again():
    X, _ = texts()
    estimator = HyperDoc2Vec(dim=4)
    assert estimator.fit(X) is estimator
    once = estimator.transform(X)
    assert np.array_equal(estimator.fit_transform(X), once)
    assert np.array_equal(clone(estimator).fit(X).transform(X), once)


def test_vectors_come_as_a_frame_on_request():
    pytest.importorskip("pandas")
    X, _ = texts()
    frame = HyperDoc2Vec(dim=4).set_output(transform="pandas").fit_transform(X)
    assert list(frame.columns) == [f"hyperdoc2vec{n}" for n in range(4)] and len(frame) == len(X)


def test_parameters_are_kept_and_cloned():
    estimator = HyperDoc2Vec(dim=7, seed=3)
    assert clone(estimator).get_params() == estimator.get_params()
    assert estimator.set_params(dim=9).dim == 9


def test_bad_input_is_refused():
    with pytest.raises(NotFittedError):
        HyperDoc2Vec().transform(["text"])
    with pytest.raises(ValueError, match="several texts"):
        HyperDoc2Vec().fit("one text")
    with pytest.raises(ValueError, match="one dimension"):
        HyperDoc2Vec().fit(np.zeros((3, 2)))
    with pytest.raises(ValueError):
        HyperDoc2Vec().fit([])
