"""Suggestions fitted to what an annotator answered, and the order by doubt."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from emotui.backends.host import Cancelled
from emotui.errors import BadInput
from emotui.records import LabelsGold, ValuesGold
from emotui.store.store import Store
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.events import Accept, Event, SetLabels, SetNumber
from emotui.workbench.annotate.fitted import logistic, refit, ridge, source_of
from emotui.workbench.annotate.planning.order import Order
from emotui.workbench.annotate.service import Annotating
from emotui.workbench.datasets.samples import add_samples

SCHEME = """
name = "two"
[[groups]]
name = "emotion"
of = "text"
exclusive = {one}
[[groups.labels]]
name = "joy"
[[groups.labels]]
name = "fear"
"""
NUMBERS = """
name = "numbers"
[[groups]]
name = "valence"
of = "text"
scale = {{ minimum = 1, maximum = 9 }}
"""


def _vectors(texts: Sequence[str]) -> np.ndarray:
    """A text is where its number says: the even ones on one side, the farther the higher the number."""
    at = np.array([int(text.split()[-1]) for text in texts])
    return np.stack([np.where(at % 2 == 0, 1.0, -1.0) * (1 + at / 60), np.cos(at)], axis=1)


def _work(tmp_path: Path, *, one: bool = True, n: int = 60, answered: int = 40) -> tuple[Store, Annotating]:
    store = Store.open(tmp_path / "w.duckdb")
    add_samples(store, "labels", "d", [LabelsGold(id=str(at), text=f"text {at}") for at in range(n)], "made")
    (tmp_path / "s.toml").write_text(SCHEME.format(one=str(one).lower()), encoding="utf-8")
    Desk(store).keep_scheme("d", str(tmp_path / "s.toml"))
    work = Desk(store).begin("d", "ann")
    for at in list(work.order)[:answered]:
        joyful = int(work.text(at).id) % 2 == 0
        work.do(at, SetLabels(("joy",) if joyful else ("fear",)), Accept())
    return store, work


def test_heads_foretell_what_the_annotator_says_and_are_told_beside_the_most_frequent_answer(tmp_path: Path) -> None:
    store, work = _work(tmp_path)
    done = refit(store, work.dataset, work.scheme, "ann", embed=_vectors)
    assert (done.source, done.n, done.texts, done.figure) == ("like ann", 40, 60, "right")
    assert (done.value, done.usual) == (1.0, 0.5)
    assert done.told == "like ann, of 40 answers: right 100% of those unseen, the usual answer 50%"
    last = list(work.order)[-1]
    assert ("like ann", "file") in work.sources(last)
    said = work.suggest(last, "like ann")
    assert said.suggestion is not None
    assert said.suggestion.answer.labels == ("fear",)


def test_of_an_answered_text_the_heads_say_what_they_say_without_it(tmp_path: Path) -> None:
    # One text is answered against all others: heads that had seen it could say so, these cannot.
    store, work = _work(tmp_path, answered=39)
    odd = list(work.order)[39]
    work.do(odd, SetLabels(("joy",)), Accept())
    assert int(work.text(odd).id) % 2 == 1
    done = refit(store, work.dataset, work.scheme, "ann", embed=_vectors)
    assert done.value == pytest.approx(39 / 40)


def test_only_own_answers_count_and_a_second_fit_is_the_same_source(tmp_path: Path) -> None:
    store, work = _work(tmp_path, answered=20)
    other = Desk(store).begin("d", "ben")
    for at in other.order:
        other.do(at, SetLabels(("fear",)), Accept())
    first = refit(store, work.dataset, work.scheme, "ann", embed=_vectors)
    for at in list(work.order)[20:30]:
        work.do(at, SetLabels(("joy",) if int(work.text(at).id) % 2 == 0 else ("fear",)), Accept())
    asked: list[str] = []

    def counted(texts: Sequence[str]) -> np.ndarray:
        asked.extend(texts)
        return _vectors(texts)

    second = refit(store, work.dataset, work.scheme, "ann", embed=counted)
    assert (first.n, second.n, first.run) == (20, 30, second.run)
    assert asked == [], "no text is embedded twice"
    run = source_of(store, work.dataset, "ann")
    assert run is not None
    assert len({row.sample for row in store.results.of_run(run.run)}) == 60
    assert source_of(store, work.dataset, "ben") is None


def test_the_most_doubtful_texts_come_first(tmp_path: Path) -> None:
    store, work = _work(tmp_path, answered=20)
    done = refit(store, work.dataset, work.scheme, "ann", embed=_vectors)
    order = work.choose(Order(kind="uncertain", sources=(done.run,)))
    left = [int(work.text(at).id) for at in order if at not in work.accepted()]
    assert set(left[:4]) <= set(range(20, 30)), "those nearest to the border between both labels"
    assert max(left) in left[-4:]


@pytest.mark.parametrize(("answered", "why"), [(3, "from 20 on"), (0, "has answered 0 texts")])
def test_too_few_answers_are_told(tmp_path: Path, answered: int, why: str) -> None:
    store, work = _work(tmp_path, answered=answered)
    with pytest.raises(BadInput, match=why):
        refit(store, work.dataset, work.scheme, "ann", embed=_vectors)


def test_a_fit_that_is_stopped_changes_nothing(tmp_path: Path) -> None:
    store, work = _work(tmp_path)
    with pytest.raises(Cancelled):
        refit(store, work.dataset, work.scheme, "ann", embed=_vectors, cancelled=lambda: True)
    assert source_of(store, work.dataset, "ann") is None


def test_several_labels_have_a_head_each(tmp_path: Path) -> None:
    store, work = _work(tmp_path, one=False)
    done = refit(store, work.dataset, work.scheme, "ann", embed=_vectors)
    assert done.value == 1.0


def test_numbers_are_foretold_on_their_scale(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "w.duckdb")
    add_samples(store, "values", "d", [ValuesGold(id=str(at), text=f"text {at}") for at in range(40)], "made")
    (tmp_path / "s.toml").write_text(NUMBERS.format(), encoding="utf-8")
    Desk(store).keep_scheme("d", str(tmp_path / "s.toml"))
    work = Desk(store).begin("d", "ann")
    for at in list(work.order)[:30]:
        events: tuple[Event, ...] = (SetNumber("valence", 8.0 if int(work.text(at).id) % 2 == 0 else 2.0), Accept())
        work.do(at, *events)
    done = refit(store, work.dataset, work.scheme, "ann", embed=_vectors)
    assert done.figure == "mae"
    assert done.usual == pytest.approx(3.0)
    assert done.value < 1


def test_the_heads_are_at_the_minimum_of_what_they_minimise() -> None:
    draw = np.random.default_rng(0)
    x, w = draw.normal(size=(50, 3)), draw.normal(size=(3, 2))
    y = (x @ w + draw.normal(size=(50, 2)) > 0).astype(float)

    def loss(weights: np.ndarray, offset: float) -> float:
        z = x @ weights + offset
        return float(np.logaddexp(0, z).sum() - (y[:, 0] * z).sum() + 0.25 * (weights**2).sum())

    # From the probabilities of the rows 0 and e_i the weights can be read off.
    p = logistic(x, y, np.vstack([np.zeros(3), np.eye(3)]), several=True, penalty=0.5)[:, 0]
    z = np.log(p / (1 - p))
    best = loss(z[1:] - z[0], z[0])
    for step in (*np.eye(4) * 0.01, *-np.eye(4) * 0.01):
        assert loss(z[1:] - z[0] + step[:3], z[0] + step[3]) > best
    two = np.stack([y[:, 0], 1 - y[:, 0]], axis=1)
    soft = logistic(x, two, x, several=False, penalty=0.5)
    np.testing.assert_allclose(soft.sum(axis=1), 1)
    # Two columns of weights, each penalised: as one column of twice the difference, penalised half as much.
    np.testing.assert_allclose(soft[:, 0], logistic(x, y[:, :1], x, several=True, penalty=0.25)[:, 0], atol=1e-4)


def test_a_ridge_of_numbers_solves_its_equations() -> None:
    draw = np.random.default_rng(1)
    x, y = draw.normal(size=(30, 3)), draw.normal(size=(30, 1))
    ones = np.hstack([x, np.ones((30, 1))])
    solved = np.linalg.solve(ones.T @ ones + np.diag([0.7, 0.7, 0.7, 0]), ones.T @ y)
    np.testing.assert_allclose(ridge(x, y, x, penalty=0.7), ones @ solved)
