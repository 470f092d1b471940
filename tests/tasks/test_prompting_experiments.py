"""SEER's prompting experiments: the hand-crafted sentences, the samples made of them, and the gate."""

import json
from collections import Counter
from importlib.resources import files
from itertools import pairwise
from typing import Any

import pytest

from emotui.errors import BadInput
from emotui.lexicons import empath_keywords
from emotui.metrics.span_output import SEPARATOR
from emotui.metrics.span_scoring import SampleDetail, score_samples
from emotui.metrics.tokens import fold
from emotui.records import SEER_EMOTIONS, SpanPrediction, SpanSample
from emotui.tasks.prompting.settings import Writing
from emotui.tasks.spans.experiments import experiment, figures, goes_on, hand_crafted, options, target
from emotui.tasks.spans.prompts import ask_in_words
from tests.backends.contract_backend import Contract

SENTENCES = hand_crafted()
MADE = {number: experiment(number, SENTENCES) for number in range(4)}


def spans(sample: SpanSample) -> list[str]:
    return [sample.text[start:end] for start, end in sample.places]


def test_there_are_ten_neutral_sentences_two_for_each_emotion_and_five_for_each_valence() -> None:
    emotions = Counter(sentence.emotion for sentence in SENTENCES)
    assert emotions == Counter({"neutral": 10, None: 10} | dict.fromkeys(SEER_EMOTIONS, 2))
    assert Counter(s.valence for s in SENTENCES if s.emotion is None) == {"positive": 5, "negative": 5}


def test_neutral_sentences_have_no_evidence_and_all_others_one_or_two_spans() -> None:
    for sentence in SENTENCES:
        assert (len(sentence.places) in (1, 2)) == (sentence.emotion != "neutral"), sentence.text
        assert len(sentence.places) < 3


def test_no_bigram_comes_twice_in_the_whole_set() -> None:
    bigrams = Counter(pair for s in SENTENCES for pair in pairwise(fold(s.text)[0].split()))
    assert [pair for pair, times in bigrams.items() if times > 1] == []
    assert len(bigrams) > 100


def test_the_experiments_have_the_papers_numbers_of_samples() -> None:
    assert [len(MADE[number]) for number in range(4)] == [100, 90, 432, 432]
    for made in MADE.values():
        assert len({sample.id for sample in made}) == len(made)


def test_the_same_seed_gives_the_same_samples_and_another_gives_others() -> None:
    for number in range(4):
        assert experiment(number, SENTENCES, 0) == MADE[number]
        assert experiment(number, SENTENCES, 1) != MADE[number]


def test_each_length_comes_equally_often() -> None:
    neutral = [s.text for s in SENTENCES if s.emotion == "neutral"]
    lengths = {number: Counter(sum(s.text.count(one) for one in neutral) for s in MADE[number]) for number in (0, 1)}
    assert lengths == {0: dict.fromkeys(range(1, 11), 10), 1: dict.fromkeys(range(2, 11), 10)}
    for number in (2, 3):
        assert Counter(len(s.sentences) for s in MADE[number]) == dict.fromkeys(range(2, 11), 48)


def test_experiment_0_is_the_whole_text_and_1_one_sentence_of_it() -> None:
    assert all(spans(sample) == [sample.text] for sample in MADE[0])
    neutral = {s.text for s in SENTENCES if s.emotion == "neutral"}
    assert all(target(sample) in neutral and len(sample.places) == 1 for sample in MADE[1])


def test_experiments_2_and_3_hold_one_felt_sentence_among_neutral_ones_with_its_evidence_as_gold() -> None:
    by_text = {sentence.text: sentence for sentence in SENTENCES}
    for sample in MADE[3]:
        inside = [by_text[sample.text[s.start : s.end]] for s in sample.sentences]
        (felt,) = [sentence for sentence in inside if sentence.emotion != "neutral"]
        assert spans(sample) == spans(felt)
        assert len({sentence.id for sentence in inside}) == len(inside)
    assert [sample.text for sample in MADE[2]] == [sample.text for sample in MADE[3]]
    places = Counter(next(i for i, s in enumerate(x.sentences) if s.emotion != "neutral") for x in MADE[3])
    assert set(places) == set(range(10))


def test_experiment_2_shows_three_options_of_which_the_gold_ones_are_one_or_two() -> None:
    for sample in MADE[2]:
        shown = options(sample)
        assert len(set(shown)) == 3
        assert all(option in sample.text for option in shown)
        assert [span for span in spans(sample) if span in shown] == spans(sample)
        assert options(sample) == shown


def test_no_text_holds_a_separator_or_a_marker() -> None:
    assert not [s for made in MADE.values() for s in made if SEPARATOR in s.text or "**" in s.text]


def test_an_experiment_that_does_not_exist_or_cannot_be_made_is_one_sentence() -> None:
    with pytest.raises(BadInput, match="there is no experiment 4"):
        experiment(4, SENTENCES)
    with pytest.raises(BadInput, match="need 10 neutral sentences; there are 0"):
        experiment(0, SENTENCES[10:])


def test_a_prompt_shows_the_target_or_the_options() -> None:
    def prompt(number: int, way: str) -> str:
        (asked,) = ask_in_words([MADE[number][0]], Contract().generate, way, [0], Writing(retries=0))
        return asked.prompt or ""

    assert target(MADE[1][0]) in prompt(1, "experiment-1-highlight").split(MADE[1][0].text)[0]
    shown = prompt(2, "experiment-2-retrieve")
    assert all(f"- {option}\n" in shown for option in options(MADE[2][0]))


def answered(samples: list[SpanSample], wrong: str = "", repeat: int = 0) -> list[SampleDetail]:
    """Right but for the samples whose id holds `wrong`; those are answered with too few."""
    said = [
        SpanPrediction(
            id=s.id, spans=tuple(span.upper() for span in spans(s)[wrong != "" and wrong in s.id :]), repeat=repeat
        )
        for s in samples
    ]
    return score_samples(samples, said, None, empath_keywords())


def figures_of(samples: list[SpanSample], details: list[SampleDetail]) -> Any:
    return figures(samples, details)["experiment"]


def test_figures_tell_emotions_from_valences_and_say_who_goes_on() -> None:
    all_right = figures_of(MADE[3], answered(MADE[3]))
    assert (all_right["number"], all_right["goes_on"]) == (3, True)
    cell = all_right["all"]
    assert (cell["n"], cell["f1"], cell["sim"], cell["em"]) == (432, 1.0, None, 1.0)
    # Nothing varies, so no interval stands: it would say that nothing could.
    assert not any(cell["ci95"].values())
    assert "no resample differs" in cell["notes"]["ci95.f1"]
    assert (all_right["categorical"]["n"], all_right["valence"]["n"]) == (252, 180)
    no_valence = figures_of(MADE[3], answered(MADE[3], "-pv-"))
    assert no_valence["categorical"]["em"] == 1.0
    assert no_valence["valence"]["em"] == 0.0
    assert not no_valence["goes_on"]
    assert "goes_on" not in figures_of(MADE[2], answered(MADE[2]))


def test_repeats_give_means_and_their_standard_deviation() -> None:
    found = figures_of(MADE[0], answered(MADE[0]) + answered(MADE[0], "n01", 1))
    assert found["all"]["em"] == pytest.approx((1 + 0.9) / 2)
    assert found["all"]["sd"]["em"] == pytest.approx(0.1 / 2**0.5)


def test_a_text_given_back_in_capitals_is_an_exact_match_as_squad_compares_and_not_letter_by_letter() -> None:
    capitals = figures_of(MADE[0], answered(MADE[0]))["all"]
    assert (capitals["em"], capitals["em_letters"]) == (1.0, 0.0)
    copied = [SpanPrediction(id=s.id, spans=(f" {s.text}\n",)) for s in MADE[0]]
    assert figures_of(MADE[0], score_samples(MADE[0], copied, None, empath_keywords()))["all"]["em_letters"] == 1.0


def test_samples_of_no_experiment_have_no_such_figures() -> None:
    assert figures(SENTENCES, answered(SENTENCES)) == {}


# What the paper published.

PUBLISHED = files("emotui.sample_data") / "published"
COUNTS = {3: (16, 4), 4: (16, 4), 7: (17, 1), 8: (17, 5), 9: (17, 5)}


def table(number: int) -> dict[str, Any]:
    return json.loads((PUBLISHED / f"seer_table{number}.json").read_text(encoding="utf-8"))


def cell(number: int, model: str, setting: str, figure: str) -> tuple[float, float | None]:
    (row,) = [row for row in table(number)["rows"] if row["model"] == model]
    return row["settings"][setting][figure]["mean"], row["settings"][setting][figure]["sd"]


@pytest.mark.parametrize("number", COUNTS)
def test_every_published_row_cites_its_table_and_every_figure_is_a_share(number: int) -> None:
    found = table(number)
    rows, settings = COUNTS[number]
    assert len({row["model"] for row in found["rows"]}) == len(found["rows"]) == rows
    assert max(len(row["settings"]) for row in found["rows"]) == settings
    for row in found["rows"]:
        assert (row["paper"], row["table"]) == ("SEER", f"Table {number}")
        for figures_of_setting in row["settings"].values():
            assert set(figures_of_setting) == set(found["units"])
            for figure in figures_of_setting.values():
                assert 0 <= figure["mean"] <= 1
                assert figure["sd"] is None or 0 <= figure["sd"] < 0.1


def test_some_cells_are_as_the_paper_prints_them() -> None:
    assert cell(3, "Qwen 3 32B", "retrieve", "f1") == (0.673, 0.006)
    assert cell(3, "Qwen 3 32B", "highlight-cot", "sim") == (0.606, 0.005)
    assert cell(3, "Crowd annotators, best", "people", "f1") == (0.672, None)
    assert cell(3, "Gemma 3 4B", "retrieve-cot", "f1") == (0.483, 0.019)
    assert cell(4, "Crowd annotators, average", "people", "sim") == (0.336, 0.062)
    assert cell(4, "LLaMA 3.3 70B", "highlight", "f1") == (0.150, 0.003)
    assert cell(7, "Phi 4 Mini 3.8B", "experiment-0", "em") == (0.710, 0.019)
    assert cell(8, "LLaMA 3.2 1B", "experiment-1", "sim") == (0.436, 0.008)
    assert cell(8, "LLaMA 3.2 1B", "experiment-1", "f1") == (0.192, 0.005)
    assert cell(9, "Phi 4 14B", "experiment-1", "f1") == (0.906, 0.018)
    assert cell(9, "Qwen 2.5 72B", "experiment-3-valence", "sim") == (0.745, 0.001)


@pytest.mark.parametrize("main", [3, 4])
@pytest.mark.parametrize(("experiments", "setting"), [(8, "retrieve"), (9, "highlight")])
def test_the_gate_retains_just_the_models_that_the_paper_retained(main: int, experiments: int, setting: str) -> None:
    halves = ("experiment-3-categorical", "experiment-3-valence")
    passed = {
        row["model"]
        for row in table(experiments)["rows"]
        if goes_on(*(row["settings"][half]["f1"]["mean"] for half in halves))
    }
    assert passed == {row["model"] for row in table(main)["rows"] if setting in row["settings"]}


def test_the_gate_needs_both_halves() -> None:
    assert goes_on(0.5, 0.495001)
    assert not goes_on(0.9, 0.49)
    assert not goes_on(0.49, 0.9)
