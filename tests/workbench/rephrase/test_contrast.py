"""Contrast sets: pairs of a slice out of the log, and who answers both texts of a pair rightly."""

from pathlib import Path

import pytest

from emotui.errors import BadInput
from emotui.formats import read, write
from emotui.records import Attempt, Chain, SpanSample
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.rephrase.chains import import_chains
from emotui.workbench.rephrase.contrast import (
    ContrastPair,
    contrast_figures,
    keep_counter_test,
    kept_pairs,
    score_contrast,
    write_contrast,
)
from emotui.workbench.workspace import Workspace
from tests.backends.installed_kind import install_kind
from tests.conftest import Emotui

WORD = "word:weep"


def _pair(key: str, **more: str) -> ContrastPair:
    return ContrastPair(
        id=key, text=f"{key} before", label="joy", contrast=f"{key} after", contrast_label="joy", **more
    )


def _chain(key: str, text: str, predicted: str, *attempts: tuple[str, str]) -> Chain:
    said = tuple(Attempt(text=one, predicted=label, confidence=0.5) for one, label in attempts)
    return Chain(id=key, text=text, label="sadness", attempts=said, predicted=predicted, annotator="ann")


CHAINS = (
    _chain("a", "I do not weep.", "neutral", ("I never weep.", "neutral"), ("I weep.", "sadness")),
    _chain("b", "They weep here and did not sing.", "sadness", ("They sing.", "neutral")),
    _chain("c", "I do not know why.", "neutral"),
    _chain("d", "You weep.", "sadness", ("You all weep.", "sadness")),
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    opened = Workspace.open(tmp_path / "w.duckdb")
    import_chains(opened.store, list(CHAINS), "mine", "test", "ann")
    return opened


def test_figures_of_four_pairs_are_those_worked_by_hand() -> None:
    pairs = [_pair(key) for key in "abcd"]
    # Both right; wrong and then right; right and then wrong; wrong twice with the same answer.
    said = [("joy", "joy"), ("fear", "joy"), ("joy", ""), ("fear", "fear")]
    found = contrast_figures(pairs, said)
    figures = {name: found[name] for name in ("n", "accuracy", "contrast_accuracy", "consistency", "flips")}
    assert figures == {"n": 4, "accuracy": 0.5, "contrast_accuracy": 0.5, "consistency": 0.25, "flips": 0.5}
    assert (found["error_goes"], found["error_comes"]) == (0.5, 0.5)
    low, high = found["ci95"]["consistency"]
    assert low <= 0.25 <= high
    assert "pairs" in found["conventions"]["ci95"]


def test_pairs_of_one_original_are_drawn_together() -> None:
    pairs = [_pair("a"), _pair("a"), _pair("b"), _pair("c")]
    found = contrast_figures(pairs, [("joy", "joy")] * 2 + [("fear", "joy")] * 2)
    assert "3 groups of pairs that share a text" in found["conventions"]["ci95"]


def test_a_figure_over_no_pair_is_none() -> None:
    assert contrast_figures([_pair("a")], [("joy", "joy")])["error_goes"] is None


def test_the_last_version_of_each_text_of_the_slice_stands_beside_its_original(
    workspace: Workspace, tmp_path: Path
) -> None:
    to = str(tmp_path / "pairs.jsonl")
    service, slicing = workspace.rephrasing(), workspace.slicing()
    document = write_contrast(service, slicing, "mine", to, where="words<5")
    pairs = read(to, ContrastPair).records
    assert [(one.id, one.text, one.contrast) for one in pairs] == [
        ("a", "I do not weep.", "I weep."),
        ("d", "You weep.", "You all weep."),
    ]
    assert (pairs[0].predicted, pairs[0].contrast_predicted, pairs[0].annotator) == ("neutral", "sadness", "ann")
    assert (document["texts"], document["pairs"]) == (2, 2)
    assert (document["error_goes"], document["error_comes"]) == (1, 0)
    every = write_contrast(service, slicing, "mine", to)
    assert (every["texts"], every["pairs"], every["error_comes"]) == (4, 3, 1)
    with pytest.raises(BadInput, match="1 text in this slice, none rephrased yet"):
        write_contrast(service, slicing, "mine", to, where="words=5")
    workspace.close()


def test_any_model_is_asked_about_both_texts_of_every_pair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, emotui: Emotui, workspace: Workspace
) -> None:
    workspace.close()
    install_kind(monkeypatch, "word", "tests.backends.one_word_backend:load")
    to = tmp_path / "pairs.jsonl"
    done = emotui("rephrasings", "contrast", "--dataset", "mine", "--to", to, "--db", workspace.store.path, "--json")
    assert done.document["pairs"] == 3
    document = score_contrast(str(to), [WORD], warn=print)
    figures = document["models"][WORD]
    # It says sadness of every text with "weep": both of a and d, and the first of b.
    assert (figures["consistency"], figures["flips"]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert (figures["error_comes"], figures["error_goes"], figures["unanswered"]) == (pytest.approx(1 / 3), None, 0)
    printed = emotui("rephrasings", "consistency", "--pairs", to, "--model", "embedded")
    assert printed.status == 0
    assert "consistency" in printed.out
    write(to, [])
    with pytest.raises(BadInput, match="there is no record in the file"):
        score_contrast(str(to), [WORD], warn=print)


def test_a_slice_is_written_anew_until_the_error_goes_and_its_pairs_are_a_contrast_set(
    monkeypatch: pytest.MonkeyPatch, workspace: Workspace
) -> None:
    install_kind(monkeypatch, "word", "tests.backends.one_word_backend:load")
    service, slicing = workspace.rephrasing(), workspace.slicing()
    number = service.dataset("mine").dataset
    kept, left_out = keep_counter_test(slicing, number, "negation=yes")
    assert (kept.name, kept.task, left_out) == ("mine, negation=yes", "rephrase", 0)
    assert keep_counter_test(slicing, number, "negation=yes")[0].dataset == kept.dataset, "it is kept once"
    with pytest.raises(BadInput, match="none of the 0 texts"):
        keep_counter_test(slicing, number, "words>99")
    round_ = service.begin(kept.name, WORD, "ann")
    texts = {one.sample.id: at for at, one in round_.originals.items()}
    assert set(texts) == {"a", "b", "c"}
    assert round_.offered() == list(texts.values()), "what the model gets wrong is not set aside"
    # It knows sadness by "weep" alone: a and b are right, c is not.
    assert service.submit(round_, texts["c"], "I still do not know.").state == "open"
    assert service.submit(round_, texts["c"], "I weep.").state == "succeeded"
    assert service.submit(round_, texts["a"], "I weep!").state == "succeeded", "no error has come"
    assert service.submit(round_, texts["b"], "They sing.").state == "open", "an error has come"
    progress = service.progress(round_)
    assert (progress.errors, progress.gone, progress.left, progress.set_aside) == (1, 1, 1, 0)
    (pair,) = [one for one in kept_pairs(service, kept.name) if one.id == "c"]
    assert (pair.contrast, pair.predicted, pair.contrast_predicted) == ("I weep.", "neutral", "sadness")
    workspace.close()


def test_labels_of_seer_become_those_that_classifiers_know(tmp_path: Path) -> None:
    opened = Workspace.open(tmp_path / "s.duckdb")
    add_samples(
        opened.store,
        "spans",
        "seer",
        [
            SpanSample(id="1", text="We won, not you.", spans=(), emotion="happy"),
            SpanSample(id="2", text="It is not so.", spans=()),
            SpanSample(id="3", text="It rains.", spans=(), emotion="sad"),
        ],
        "test",
    )
    number = opened.store.datasets.get("seer").dataset  # type: ignore[union-attr]
    kept, left_out = keep_counter_test(opened.slicing(), number, "negation=yes")
    ((_, record),) = opened.store.samples.of_dataset(kept.dataset)
    assert (kept.name, kept.n, left_out) == ("seer, negation=yes", 1, 1)
    assert b'"joy"' in record
    opened.close()
