"""Threads, forked and spawned processes: the pool of a parent is no pool of its child."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

TEXTS = ["stir the sauce [[?]]", "the dough of the bread [[?]]", "sauce and bread"]


def answers(model) -> list[list[str]]:
    vectors = model.embed(TEXTS * 20)
    assert vectors.shape[0] == 60
    return [answer.ids for answer in model.recommend(TEXTS, top=3)]


def into(queue, model) -> None:
    queue.put(answers(model))


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_children_answer_as_their_parent_does(model, start):
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {start}")
    expected = answers(model)  # the parent's threads run before the child is made
    context = multiprocessing.get_context(start)
    queue = context.SimpleQueue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of fork beside threads
        children = [context.Process(target=into, args=(queue, model)) for _ in range(2)]
        [child.start() for child in children]
    for child in children:
        child.join(60)
        assert child.exitcode == 0, "a child hangs or died"
    assert [queue.get() for _ in children] == [expected, expected]
    assert answers(model) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_loader_of_batches_can_be_forked_again_and_again(model):
    expected = answers(model)
    context = multiprocessing.get_context("fork")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for _ in range(3):
            with context.Pool(2) as pool:
                assert pool.map_async(answers, [model] * 4).get(timeout=60) == [expected] * 4


def test_threads_may_open_and_let_go_of_models_at_once(model, tmp_path):
    """The last of them to let go of a model without a path removes its file; views outlive it."""
    import pickle

    packed = pickle.dumps(model)

    def work(_: int) -> float:
        again = pickle.loads(packed)
        vectors = again.doc_in
        del again
        return float(vectors.sum())

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(work, range(40))) == {float(model.doc_in.sum())}
    held = [pickle.loads(packed)]
    users = [threading.Thread(target=answers, args=(held[0],)) for _ in range(2)]
    [user.start() for user in users]
    held.clear()
    [user.join(60) for user in users]
    assert not any(user.is_alive() for user in users)


class Loader:
    """Batches from worker processes, as torch's DataLoader makes them: a dataset is sent to each, and asked by row."""

    def __init__(self, model) -> None:
        self.model = model

    def __getitem__(self, row: int):
        return self.model.embed(TEXTS[row % len(TEXTS)]), self.model.doc_in[row].copy()


def work_off(dataset, rows, results) -> None:
    while (row := rows.get()) is not None:
        results.put((row, dataset[row]))


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_a_data_loader_gets_its_rows_from_workers(model, start):
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {start}")
    dataset, context = Loader(model), multiprocessing.get_context(start)
    expected = [dataset[row] for row in range(12)]
    rows, results = context.Queue(), context.Queue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        workers = [context.Process(target=work_off, args=(dataset, rows, results), daemon=True) for _ in range(2)]
        [worker.start() for worker in workers]
    [rows.put(row) for row in [*range(12), None, None]]
    found = dict(results.get(timeout=60) for _ in range(12))
    [worker.join(60) for worker in workers]
    assert [worker.exitcode for worker in workers] == [0, 0]
    for row, (text, vector) in enumerate(expected):
        assert (found[row][0] == text).all() and (found[row][1] == vector).all()


def test_threads_share_a_model(model):
    expected = answers(model)
    barrier = threading.Barrier(4)

    def work(_: int) -> list[list[str]]:
        barrier.wait()
        return answers(model)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(work, range(4))) == [expected] * 4


def test_the_interpreter_is_free_while_a_model_computes(model):
    """Another thread counts on while this one embeds."""
    ticks = 0
    done = threading.Event()

    def count() -> None:
        nonlocal ticks
        while not done.wait(0.001):
            ticks += 1

    texts, whole = ["stir the sauce with a wooden spoon " * 50] * 500, 0.0
    while whole < 1:
        texts *= 2
        started = time.perf_counter()
        model.embed(texts)
        whole = time.perf_counter() - started
    thread = threading.Thread(target=count)
    thread.start()
    before = ticks
    model.embed(texts)
    seen = ticks - before
    done.set()
    thread.join()
    assert seen > 5


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
def test_ctrl_c_ends_the_embedding_of_a_long_list(model):
    texts = ["stir the sauce with a wooden spoon " * 300] * 500
    whole = 0.0
    while whole < 3:
        texts *= 2
        started = time.perf_counter()
        model.embed(texts)
        whole = time.perf_counter() - started

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        started = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, whole / 20)
            model.embed(texts)
        assert time.perf_counter() - started < whole / 2, "the list was embedded to its end"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_an_import_brings_nothing_heavy():
    script = (
        "import sys, hyperdoc2vec\n"
        "print(sorted({'numpy', 'sklearn', 'pandas', 'pyarrow', 'gensim'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
