"""Which layer knows a label, where the truth is known; and what was known and not said."""

import json
from pathlib import Path

import numpy as np
import pytest

from emotui.backends.base import HiddenStates, hidden_states_of
from emotui.errors import BadInput
from emotui.metrics.lexical import word_features
from emotui.records import LabelsGold
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.progress import RunOptions
from emotui.workbench.why.lens import Gold, _cosines, code_known, keep_unsaid, known_table, probed
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui
from tests.paths import TESTS

N = 160


def _gold(names: tuple[str, ...] = ("joy", "fear"), numbers: bool = False) -> Gold:
    draw = np.random.default_rng(4)
    table = draw.normal(size=(N, 2)) if numbers else (draw.normal(size=(N, 2)) > 0).astype(float)
    ids = tuple(str(at) for at in range(N))
    return Gold(ids, ("the lead hung on its hook",) * N, (None,) * N, names, table, {})


def _states(gold: Gold, knows: int) -> list[HiddenStates]:
    """Four layers of 12 numbers of noise; in one of them two numbers are the labels, with noise of half the size."""
    draw = np.random.default_rng(5)
    states = draw.normal(size=(N, 4, 12))
    states[:, knows, :2] = gold.table + 0.5 * states[:, knows, :2]
    return [hidden_states_of(one[:, None].astype(np.float32), range(4), 3) for one in states]


def test_the_layer_in_which_the_labels_are_linear_beats_its_controls_and_no_other_does() -> None:
    gold = _gold()
    found = probed(gold, _states(gold, 2), "labels", None)[0]
    assert {layer: row["beats_controls"] for layer, row in found["by_layer"].items()} == {
        "0": None,
        "1": False,
        "2": True,
        "3": False,
    }
    assert found["best_layer"] == 2
    assert found["by_layer"]["2"]["auc"] > 0.85
    low, high = found["ci95"]["by_layer.1.auc"]
    assert low < 0.5 < high
    assert all(row["shuffled"] == pytest.approx(0.5, abs=0.05) for row in found["by_layer"].values())
    # The texts are all alike: a word list knows nothing.
    assert found["words"] == pytest.approx(0.5)


def test_a_layer_that_is_right_without_exception_beats_its_controls_though_no_resample_differs() -> None:
    gold = _gold()
    states = np.stack([one.array() for one in _states(gold, 2)])
    states[:, 0] = 1.0  # layer 0, as the word list, sees texts that are all alike
    states[:, 2] = 0.0
    states[:, 2, 0, :2] = gold.table
    found = probed(gold, [hidden_states_of(one, range(4), 3) for one in states], "labels", None)[0]
    assert found["by_layer"]["2"]["auc"] == 1
    assert found["ci95"]["by_layer.2.above_words"] is None
    assert found["best_layer"] == 2


def test_where_the_embedding_layer_knows_it_too_no_later_layer_beats_its_controls() -> None:
    gold = _gold()
    states = np.repeat(np.stack([one.array() for one in _states(gold, 0)])[:, :1], 2, axis=1)
    found = probed(gold, [hidden_states_of(one, (0, 1), 1) for one in states], "labels", None)[0]
    assert found["by_layer"]["1"]["auc"] > 0.85
    assert found["by_layer"]["1"]["above_embedding"] == 0
    assert found["best_layer"] is None
    assert "no layer beats its controls" in found["notes"]["best_layer"]


def test_what_a_layer_knew_and_the_answer_did_not_say_is_counted_beside_chance_and_listed() -> None:
    gold = _gold()
    answers = np.zeros_like(gold.table)  # a model that never gives a label
    answers[:5] = np.nan  # and five times no answer
    found = probed(gold, _states(gold, 2), "labels", answers)[0]
    missed = int(gold.table[5:].sum())
    assert (found["not_said"]["missed"], found["not_said"]["unanswered"]) == (missed, 5)
    knows, does_not = found["by_layer"]["2"], found["by_layer"]["1"]
    assert knows["knew"] > 0.75 * missed > knows["knew_by_chance"]
    assert does_not["knew"] < 0.65 * missed
    texts = found["not_said"]["texts"]
    assert sum(map(len, texts.values())) == knows["knew"]
    assert all(gold.table[int(key), gold.names.index(name)] == 1 for key, names in texts.items() for name in names)


def test_numbers_are_probed_by_how_much_is_explained() -> None:
    gold = _gold(("valence", "arousal"), numbers=True)
    found = probed(gold, _states(gold, 3), "values", None)[0]
    assert found["figure"] == "r2"
    assert found["best_layer"] == 3
    assert found["by_layer"]["3"]["r2"] > 0.6
    assert found["by_layer"]["1"]["r2"] < 0.1
    between = found["cosines"]["3"]["between"]
    assert between["valence"]["valence"] == pytest.approx(1)
    assert between["valence"]["arousal"] == pytest.approx(between["arousal"]["valence"])
    assert abs(between["valence"]["arousal"]) < 0.6


def test_directions_are_set_against_valence_by_the_order_of_their_cosines() -> None:
    names = ("joy", "love", "anger", "fear")
    order = np.array([[1, 0.5, -0.2, 0.1], [0.5, 1, 0.1, 0.3], [-0.2, 0.1, 1, 0.1], [0.1, 0.3, 0.1, 1]])
    found = _cosines(order, names)
    assert (found["same_valence"], found["other_valence"]) == (pytest.approx(0.3), pytest.approx(0.075))
    # .5 is above all four; .1 is above -.2, below .3 and equal to two.
    assert found["by_valence"] == pytest.approx((4 + 1 + 2 * 0.5) / 8)


def test_the_word_list_counts_what_emolex_ties_words_to() -> None:
    happy, lead = word_features(["happy happy", "the of"])
    assert (happy[-1], lead[-1]) == (2, 2)
    assert happy.max() == 2
    assert not lead[:-1].any()


def test_texts_that_were_known_and_not_said_have_a_code_which_is_a_filter(tmp_path: Path) -> None:
    opened = Workspace.open(tmp_path / "w.duckdb")
    texts = [LabelsGold(id=key, text=f"text {key}", labels=("joy",)) for key in "abc"]
    dataset = add_samples(opened.store, "labels", "mine", texts, "test")
    notes, slicing = opened.notes(), opened.slicing()
    first = opened.store.samples.file_order(dataset.dataset).start
    notes.write(dataset.dataset, first, "ann", "mine", ("knew",))

    def coded(**known: list[str]) -> list[int]:
        document = {"model": "hf:m", "best_layer": 3, "not_said": {"texts": known}}
        who, ids = code_known(notes, opened.store, dataset, document, "known but")
        assert (who, ids) == ("lens of hf:m", list(known))
        return [number - first for number in slicing.samples(dataset.dataset, 'code="known but"')]

    assert coded(a=["joy"], c=["joy", "fear"]) == [0, 2]
    (note,) = notes.of(dataset.dataset, first + 2)
    assert note.text == "layer 3 knew and the answer lacks: joy, fear"
    # What an earlier lens of the model coded and this one does not is coded no more; people's notes stay.
    assert coded(b=["joy"]) == [1]
    assert [note.annotator for note in notes.notes(dataset.dataset)] == ["ann", "lens of hf:m"]
    with pytest.raises(BadInput, match="no answers of its own"):
        code_known(notes, opened.store, dataset, {"model": "m", "best_layer": None}, "known")
    opened.close()


def test_the_command_codes_what_is_not_said_and_refuses_where_nothing_can_be(emotui: Emotui, tmp_path: Path) -> None:
    db = str(tmp_path / "store.duckdb")
    printed = emotui("lens", "--layers", "3", "--code", "knew", "--limit", "60", "--db", db)
    assert "0 texts have the code knew now" in printed.out  # no layer beats its controls there
    refused = emotui("lens", "--code", "knew", "--answers", "none", "--db", db)
    assert (refused.status, "--answers none out" in refused.err) == (2, True)
    assert emotui("lens", "--code", "one,two", "--db", db).status == 2


def test_the_command_probes_every_layer_and_says_what_was_not_said(emotui: Emotui, tmp_path: Path) -> None:
    db = str(tmp_path / "store.duckdb")
    found = json.loads(emotui("lens", "--layers", "3,6", "--db", db, "--json").out)
    assert list(found["by_layer"]) == ["0", "3", "6"]
    assert (found["dataset"], found["n"], found["depth"]) == ("scenes", 181, 6)
    assert found["answers"]
    assert found["not_said"]["missed"] > 0
    text = emotui("lens", "--layers", "3", "--answers", "none", "--limit", "60", "--db", db).out
    assert "beats_controls" in text
    assert "directions order by valence" in text
    assert "missed" not in text


def test_a_model_that_writes_is_read_out_at_each_layer(emotui: Emotui, tmp_path: Path) -> None:
    tiny = f"hf:{TESTS / 'tiny' / 'model' / 'hf'}#threads=1"
    db = str(tmp_path / "store.duckdb")
    found = json.loads(emotui("lens", "--model", tiny, "--answers", "none", "--limit", "60", "--db", db, "--json").out)
    assert found["state"] == "last token of the prompt"
    assert [0 <= row["lens"] <= 1 for row in found["by_layer"].values()] == [True] * 4


def test_too_few_texts_a_strange_layer_and_a_model_without_states_are_told(emotui: Emotui, tmp_path: Path) -> None:
    db = str(tmp_path / "store.duckdb")
    few = emotui("lens", "--limit", "12", "--answers", "none", "--db", db).err
    assert "a probe needs more texts" in few
    assert (
        "there is no layer 9: the model has 0 to 6"
        in emotui("lens", "--layers", "9", "--answers", "none", "--db", db).err
    )
    assert "whole numbers" in emotui("lens", "--layers", "x", "--db", db).err


def test_results_have_the_share_that_was_known_and_not_said_beside_chance_and_lead_to_these_texts(
    tmp_path: Path,
) -> None:
    opened = Workspace.open(tmp_path / "w.duckdb")
    gold = _gold()
    texts = [
        LabelsGold(id=key, text=text, labels=tuple(np.array(gold.names)[row == 1].tolist()))
        for key, text, row in zip(gold.ids, gold.texts, gold.table, strict=True)
    ]
    dataset = add_samples(opened.store, "labels", "mine", texts, "test")
    run = opened.run_model("embedded", "mine", RunOptions(limit=3))
    assert known_table(opened.store, dataset, [run]) is None, "there was no lens yet"
    answers = np.zeros_like(gold.table)
    answers[:5] = np.nan
    document, unsaid = probed(gold, _states(gold, 2), "labels", answers)
    assert unsaid is not None
    keep_unsaid(opened.store, dataset, run, gold, unsaid, document["best_layer"])
    table = next(one for one in opened.results().tables("mine", [run.run]) if one.key == "knew")
    (row,) = table.rows
    layer, n, knew, chance, above = row.cells
    ids = document["not_said"]["texts"]
    assert (layer.value, n.value, knew.value) == (2, N - 5, pytest.approx(len(ids) / (N - 5)))
    assert knew.value - chance.value == pytest.approx(above.value)  # type: ignore[operator]
    assert document["not_said"]["share"] == knew.value
    assert document["ci95"]["not_said.above_chance"] == [above.low, above.high]
    assert knew.low is not None
    assert knew.low < knew.value < knew.high  # type: ignore[operator]
    assert {one.id for one in opened.page(list(knew.samples), None)} == set(ids)
    # A lens in which no layer beats its controls takes the figure's place, and says so.
    document, unsaid = probed(gold, _states(gold, 0), "labels", answers)
    assert unsaid is not None
    keep_unsaid(opened.store, dataset, run, gold, unsaid, document["best_layer"])
    found = known_table(opened.store, dataset, [run])
    assert found is not None
    assert {cell.why for cell in found.rows[0].cells} == {"no layer beats its controls"}
    opened.close()
