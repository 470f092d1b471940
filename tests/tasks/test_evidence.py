"""Evidence taken away: a model that goes by one word alone is explained by that word, and by no other."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec
import pytest

from emotui.backends.base import Classification, Classify, ModelCard, Refused
from emotui.errors import BadInput, ModelError
from emotui.metrics.evidence import FILLER
from emotui.records import LabelsGold, Mark, SpanSample
from emotui.tasks.evidence.task import Evidence, EvidenceLabels, filler_of
from emotui.tasks.taken_away import Detail, Prediction, Variants, detail_of, intervals
from emotui.tasks.task import Parsed
from tests.conftest import Emotui

TEXT = "Since she left I weep every night, and nobody in this house asks me why."
WEEP = (TEXT.index("weep"), TEXT.index("weep") + 4)
HOUSE = (TEXT.index("house"), TEXT.index("house") + 5)
SAMPLE = SpanSample(id="1", text=TEXT, spans=(Mark(*WEEP, "sad"), Mark(*HOUSE)), emotion="sad")


def one_word(requests: Sequence[Classify]) -> list[Classification]:
    """A model that says sadness where it reads "weep", and else nothing but neutral."""
    found = []
    for request in requests:
        p = 0.9 if re.search(r"\bweep\b", request.text) else 0.2
        found.append(Classification({"sadness": p, "neutral": 1 - p}, "sadness" if p > 0.5 else "neutral", False))
    return found


def _task(**options: Any) -> Evidence:
    return Evidence().with_options({"labels": ["sadness", "neutral"], **options}, 1)


def _asked(task: Evidence, sample: SpanSample = SAMPLE, model: Any = one_word) -> Prediction:
    (asked,) = task.ask([sample], model, "classify", [0])
    assert asked.raw is not None, asked.why
    return task.parse(sample, asked.raw, "classify")


def test_the_word_that_the_model_goes_by_is_the_evidence_and_no_other_word_is() -> None:
    said = _asked(_task())
    weep, house = said.spans
    assert (weep.explains, weep.label, house.label) == ("sadness", "sad", None)
    assert (weep.masked["sadness"], weep.deleted["sadness"], weep.alone["sadness"]) == (0.2, 0.2, 0.9)
    assert (house.masked["sadness"], house.deleted["sadness"], house.alone["sadness"]) == (0.9, 0.9, 0.2)
    # 15 words: 14 other places for one word, none of which holds "weep"; of "house" one does.
    assert weep.random == (0.9,) * 14
    assert sorted(house.random) == [0.2] + [0.9] * 13
    assert said.united is not None
    assert (said.united.masked["sadness"], said.united.alone["sadness"]) == (0.2, 0.9)


def test_the_figures_of_a_text_are_those_worked_by_hand() -> None:
    task = _task()
    said = _asked(task)
    (row,) = task.score([Parsed(SAMPLE, 0, said)], None)
    assert said.united is not None
    random = 0.9 - fmean(said.united.random)
    assert row.values == pytest.approx(
        {"comprehensiveness": 0.7, "sufficiency": 0.0, "above_random": 0.7 - random}, abs=1e-9
    )
    figures = task.report([SAMPLE], [row])
    # Of 15 words 1, 5, 10, 20 and 50% are 1, 1, 2, 3 and 8: "weep" goes first, so that each lacks it.
    assert figures["comprehensiveness_area"] == pytest.approx(0.7)
    assert figures["sufficiency_area"] == pytest.approx(0.0)
    assert figures["by_emotion"]["sad"]["n"] == 2  # type: ignore[index]
    assert figures["by_wording"]["explicit"]["comprehensiveness"] == pytest.approx(0.7)  # type: ignore[index]
    assert figures["by_wording"]["implicit"]["comprehensiveness"] == pytest.approx(0.0)  # type: ignore[index]
    assert msgspec.json.decode(row.detail, type=Detail).removal == "mask"


def test_an_interval_of_drops_that_are_all_above_0_may_begin_below_0() -> None:
    texts = ("I weep and you sing", "They weep or they wait, who knows when")
    samples = [
        SpanSample(id=str(at), text=text, spans=(Mark(text.index(word), text.index(word) + 4, "sad"),))
        for at, (text, word) in enumerate(zip(texts, ("weep", "wait"), strict=True))
    ]
    details = [detail_of(sample, 0, _asked(_task(), sample)) for sample in samples]
    found = intervals(details, {})["ci95"]["comprehensiveness"]
    assert [one.whole.figures("mask")["comprehensiveness"] for one in details if one.whole] == [0.7, 0.0]
    assert found == [-1.0, 1.0]


def test_each_variant_of_a_text_is_asked_once() -> None:
    asked: list[str] = []

    def model(requests: Sequence[Classify]) -> list[Classification]:
        asked.extend(request.text for request in requests)
        return one_word(requests)

    _asked(_task(), model=model)
    assert len(asked) == len(set(asked))
    assert asked == sorted(asked, key=len)


def test_draws_are_the_same_in_any_batch_and_others_by_another_seed() -> None:
    long = " ".join(f"word{at}" for at in range(80))
    marks = (Mark(0, 11),)
    one = Variants(long, marks, "mask", 20, 7)
    assert one.texts == Variants(long, marks, "mask", 20, 7).texts
    assert one.texts != Variants(long, marks, "mask", 20, 8).texts


def test_a_text_without_marks_has_no_value_and_stands_beside_the_others() -> None:
    task, bare = _task(), SpanSample(id="2", text="Nothing.", spans=())
    rows = task.score([Parsed(SAMPLE, 0, _asked(task)), Parsed(bare, 0, _asked(task, bare))], None)
    assert set(rows[1].values.values()) == {None}
    figures = task.report([SAMPLE, bare], rows)
    assert (figures["n"], figures["without_evidence"], figures["spans"]) == (1, 1, 2)


def test_all_of_a_text_as_evidence_leaves_the_filler_and_no_random_stretch() -> None:
    whole = SpanSample(id="3", text="I weep", spans=(Mark(0, 6),))
    asked: list[str] = []

    def model(requests: Sequence[Classify]) -> list[Classification]:
        asked.extend(request.text for request in requests)
        return one_word(requests)

    task = _task()
    said = _asked(task, whole, model)
    assert FILLER in asked
    assert said.spans[0].random == ()
    (row,) = task.score([Parsed(whole, 0, said)], None)
    assert row.values["above_random"] is None
    assert "no random" in task.report([whole], [row])["notes"]["random"]  # type: ignore[index]


def test_an_answer_that_lacks_a_variant_costs_its_text_alone() -> None:
    other = SpanSample(id="4", text="You weep too", spans=(Mark(4, 8),))

    def model(requests: Sequence[Classify]) -> list[Any]:
        return [
            Refused("too long") if request.text.startswith("You …") else answer
            for request, answer in zip(requests, one_word(requests), strict=True)
        ]

    first, second = _task().ask([SAMPLE, other], model, "classify", [0, 0])
    assert first.raw is not None
    assert (second.raw, second.why) == (None, "too long")


def test_gold_labels_are_explained_where_asked_and_a_label_the_model_lacks_is_told() -> None:
    assert _asked(_task(explain="gold")).spans[0].explains == "sadness"
    odd = msgspec.structs.replace(SAMPLE, spans=(Mark(*WEEP, "nostalgia"),), emotion=None)
    (asked,) = _task(explain="gold").ask([odd], one_word, "classify", [0])
    assert asked.raw is None
    assert "nostalgia" in (asked.why or "")


def test_labels_are_those_of_the_spans_else_those_that_gold_gives_the_same_texts() -> None:
    card = ModelCard("m", "m", ("score",), {})
    bare = msgspec.structs.replace(SAMPLE, spans=(Mark(*WEEP),), emotion=None)
    texts = LabelsGold(id="1", text=TEXT, labels=("joy", "fear"))

    def labels(*samples: object) -> object:
        return EvidenceLabels().settled(card, lambda: samples, "score", {}, 0)["labels"]

    assert labels(SAMPLE, texts) == ["sad"]
    assert labels(bare, texts) == ["joy", "fear"]
    with pytest.raises(BadInput, match="no labels to choose from"):
        labels(bare)


def test_other_spans_are_another_run() -> None:
    task = _task()
    other = task.with_options({"labels": ["sadness", "neutral"], "spans": "ann", "marked": "abc"}, 1)
    assert task.settings("classify") != other.settings("classify")
    assert _asked(other.with_spans({"1": (Mark(*HOUSE),)})).spans[0].places == (HOUSE,)


def test_a_model_without_probabilities_is_told_so() -> None:
    with pytest.raises(ModelError, match="probability of a label"):
        Evidence().ways(ModelCard("m", "m", ("generate",), {}))
    with pytest.raises(BadInput, match="draws"):
        _task(draws=0)


def test_evidence_outside_the_text_is_no_prediction() -> None:
    raw = msgspec.json.encode(_asked(_task())).decode()
    with pytest.raises(ValueError, match="not within the text"):
        _task().parse(SpanSample(id="1", text="Short."), raw, "classify")


def test_a_masked_word_is_the_models_own_mask_token_where_it_has_one_and_asked_otherwise_a_neutral_sign() -> None:
    encoder = ModelCard("m", "m", ("classify",), {}, {"own": ("sadness", "neutral")}, mask="[MASK]")
    other = msgspec.structs.replace(encoder, mask=None)
    assert filler_of(encoder, "classify") == filler_of(encoder, "classify", "own") == "[MASK]"
    assert filler_of(encoder, "classify", "[MASK]") == "[MASK]"  # as a run that is resumed has it
    assert filler_of(encoder, "classify", "neutral") == filler_of(other, "classify") == FILLER
    assert filler_of(encoder, "score") == FILLER  # asked in a chat, and not by its head
    with pytest.raises(BadInput, match="no mask token of its own: leave --filler out"):
        filler_of(other, "classify", "own")
    with pytest.raises(BadInput, match="own or neutral, not 'blank'"):
        filler_of(encoder, "classify", "blank")
    settled = EvidenceLabels().settled(encoder, tuple, "classify", {}, 0)
    assert settled["filler"] == "[MASK]"
    assert "filler" not in EvidenceLabels().settled(encoder, tuple, "classify", {"filler": "neutral"}, 0)


def test_the_models_mask_stands_where_words_are_masked_and_is_told_with_every_answer() -> None:
    asked: list[Classify] = []

    def model(requests: Sequence[Classify]) -> list[Classification]:
        asked.extend(requests)
        return one_word(requests)

    own, task = SpanSample(id="5", text="I \ue000 weep \u2026 [MASK]", spans=(Mark(4, 8),)), _task(filler="[MASK]")
    said = _asked(task, own, model)
    assert {one.mask for one in asked} == {"\ue001"}  # the text has the first such sign itself
    assert "I \ue000 \ue001 \u2026 [MASK]" in [one.text for one in asked]
    assert said.filler == "[MASK]"
    (row,) = task.score([Parsed(own, 0, said)], None)
    assert row.convention.endswith("mask by the model's own token")
    assert task.report([own], [row])["notes"]["masked"] == "each masked word is [MASK], the model's own token"  # type: ignore[index]
    assert task.settings("classify")["filler"] == "[MASK]"
    assert _task().settings("classify")["filler"] == FILLER
    assert _asked(_task()).filler == FILLER


def test_runs_with_and_without_the_mask_token_are_two_and_each_says_which(emotui: Emotui, tmp_path: Path) -> None:
    db, gold = tmp_path / "w.duckdb", tmp_path / "g.jsonl"
    gold.write_text(json.dumps({"id": "1", "text": "I weep every night.", "spans": [[2, 6, "sad"]]}) + "\n")
    assert emotui("import", "spans", gold, "--name", "d", "--db", db).status == 0
    asked = ("run", "evidence", "--dataset", "d", "--draws", "2", "--db", db, "--json")
    own, plain = emotui(*asked).document, emotui(*asked, "--filler", "neutral").document
    assert own["run"] != plain["run"]
    assert emotui(*asked, "--filler", "own").document["run"] == own["run"]
    assert own["metrics"]["notes"]["masked"] == "each masked word is [MASK], the model's own token"
    assert plain["metrics"]["notes"]["masked"] == "each masked word is \u2026"
    assert own["metrics"]["comprehensiveness"] != plain["metrics"]["comprehensiveness"]
    assert own["metrics"]["comprehensiveness_deleted"] == plain["metrics"]["comprehensiveness_deleted"]
    (table,) = emotui("results", own["run"], "--db", db, "--json").document["tables"][:1]
    assert "[MASK], the model's own token (embedded)" in " ".join(table["notes"])
    words = emotui("words", "--dataset", "d", "--spans", "gold", "--filler", "neutral", "--db", db, "--json").document
    assert words["run"] != own["run"]


def test_a_run_is_kept_scored_tabulated_exported_and_the_file_scores_alike(emotui: Emotui, tmp_path: Path) -> None:
    db, gold, out = tmp_path / "w.duckdb", tmp_path / "g.jsonl", tmp_path / "out.jsonl"
    texts = ["I weep every night.", "He made me so angry yesterday!", "What a lovely surprise this was."]
    spans = [[[2, 6, "sad"]], [[11, 19, "angry"]], [[7, 22, "happy"]]]
    people = [[[7, 18]], [[0, 10]], [[0, 6]]]
    rows = [
        {"id": str(at), "text": text, "spans": marks, "annotators": {"ann": other}}
        for at, (text, marks, other) in enumerate(zip(texts, spans, people, strict=True))
    ]
    gold.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert emotui("import", "spans", gold, "--name", "d", "--db", db).status == 0
    asked = ("run", "evidence", "--dataset", "d", "--draws", "3", "--db", db, "--json")
    run = emotui(*asked).document
    assert (run["done"], run["metrics"]["n"], run["metrics"]["spans"]) == (3, 3, 3)
    assert emotui(*asked).document["run"] == run["run"]
    by_ann = emotui(*asked, "--spans", "ann").document
    assert by_ann["run"] != run["run"]
    assert by_ann["metrics"]["comprehensiveness"] < run["metrics"]["comprehensiveness"]
    (table,) = emotui("results", run["run"], "--db", db, "--json").document["tables"][:1]
    assert table["key"] == "evidence"
    assert emotui("export", run["run"], "--to", out, "--db", db).status == 0
    scored = emotui("score", "evidence", "--gold", gold, "--pred", out, "--json").document
    assert scored["comprehensiveness"] == pytest.approx(run["metrics"]["comprehensiveness"], abs=1e-9)
    assert scored["by_emotion"].keys() == {"sad", "angry", "happy"}
    assert emotui("compare", "--runs", "ann", "nobody", "--db", db).status == 2  # with runs of another question beside
    assert emotui(*asked, "--spans", "nobody").status == 2
    no = emotui("run", "spans", "--dataset", "d", "--spans", "ann", "--db", db)
    assert (no.status, "leave --spans out" in no.err) == (2, True)
