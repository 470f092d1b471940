"""Browse: the span under the cursor taken out of the text, what the live model says then, figures in the margin."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from emotui.records import LabelsGold, Mark, SpanSample
from emotui.screens.app import EmotuiApp
from emotui.screens.browse.score import Score
from emotui.screens.why import WhyPane
from emotui.screens.widgets.page import Page
from emotui.screens.widgets.why_lines import verdict
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.files.view import FileView
from emotui.workbench.why.removal import Removed
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.backends.installed_kind import install_kind
from tests.screens.album import Album, at_rest
from tests.screens.browse_workspace import SAMPLE_DATA, workspace
from tests.screens.driving import click, frame, opened, press, screen_text, strike, until

WEEP = "Since she left I weep every night, and nobody in this house asks me why."
LONG = "He went away one day in spring, and now I weep in every room of this house."
WORD = "word:weep"


def _mark(text: str, words: str) -> Mark:
    return Mark(text.index(words), text.index(words) + len(words))


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """Two texts, in each a span that the live model goes by and one that it does not."""
    install_kind(monkeypatch, "word", "tests.backends.one_word_backend:load")
    samples = [
        SpanSample(id="a", text=WEEP, spans=(_mark(WEEP, "weep"), _mark(WEEP, "house"))),
        SpanSample(id="b", text=LONG, spans=(_mark(LONG, "weep"), _mark(LONG, "away"))),
    ]
    made = workspace(tmp_path / "w.duckdb", samples=samples, run=False)
    made.set_setting("live model", WORD)
    yield made
    made.close()


def _asked(source: Workspace, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    model = source.model(WORD)
    ask = model.ask

    def heard(requests: Sequence[Any], **how: Any) -> Any:
        found.extend(one.text for one in requests)
        return ask(requests, **how)

    monkeypatch.setattr(model, "ask", heard)
    return found


def _page(pilot: Any) -> str:
    return frame(pilot).query_one("#why-page", Page).text


async def test_w_takes_the_span_under_the_cursor_away_and_every_figure_stands_in_the_margin(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "w")
        said = _page(pilot)
        assert "sadness .90, without it falls to .20 (change -.70). Without 14 random stretches as long: " in " ".join(
            said.split()
        )
        assert "nobody in this house asks me why" in said
        assert "Since she left I … every night" in said
        text = screen_text(pilot)
        assert "change" in text
        drops = [one.drop for one in frame(pilot).query_one(Score).things]
        assert drops == [("sadness -.70", "strong"), ("sadness  .00", "dim")]
        assert "w layers" in text
        assert "Esc back" in text
        await press(pilot, "w")
        assert "w layers" not in screen_text(pilot)
        await press(pilot, "w")
        assert "closes" not in screen_text(pilot)
        assert "change" not in screen_text(pilot)


def test_of_the_label_of_a_span_it_is_said_what_its_figure_is_for() -> None:
    whole = {"amusement": 0.01, "neutral": 0.89}
    found = Removed("Mr Pell", (0, 7), "m", "neutral", whole, whole, whole, whole, ("", "", ""), (), marked="amusement")
    told = "".join(part.text for part in verdict(found, own=True))
    assert told.startswith("amusement .01 of the text, without it stays .01. ")


async def test_gold_and_predicted_spans_are_counted_apart_while_they_are_asked_about(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "w")
        pane = frame(pilot).query_one(WhyPane)
        pane._gold = pane._here[:1]
        assert pane._how_many((*pane._here[:1], (0, 1), (1, 2))) == "1 of 1 gold spans, 0 of 2 predicted"
        pane._predicted = (*pane._here[:1], (0, 1), (1, 2))
        assert pane._how_many(pane._predicted) == "1 of 1 gold spans, 1 of 3 predicted", "as many as the margin has"
        pane._gold = ()
        assert pane._how_many((*pane._here[:1], (0, 1))) == "1 of 2 spans"


async def test_the_cursor_and_the_sample_take_it_along(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "w", "tab", "tab")
        assert "as low without 14 of these 14." in _page(pilot)
        await press(pilot, "j")
        assert "He went … one day" in _page(pilot)


async def test_no_variant_is_asked_twice(source: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _asked(source, monkeypatch)
    async with opened(source) as pilot:
        await press(pilot, "w", "j", "k", "w", "w", "w")
        assert asked
        assert len(asked) == len(set(asked))


async def test_keys_answer_while_the_model_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_kind(monkeypatch, "breaking", "tests.backends.breaking_backend:load")
    gate = tmp_path / "open"
    text = f"WAIT {gate}"
    made = workspace(
        tmp_path / "w.duckdb",
        samples=[
            SpanSample(id="a", text=text, spans=(Mark(0, 4),)),
            SpanSample(id="b", text=WEEP, spans=(Mark(0, 5),)),
        ],
        run=False,
    )
    made.set_setting("live model", "breaking:")
    async with opened(made) as pilot:
        await strike(pilot, "w")
        await until(pilot, "asking the model")
        await strike(pilot, "j")
        await until(pilot, "Since she left")
        gate.touch()
        await press(pilot, "w")
    made.close()


async def test_a_model_that_cannot_be_asked_says_so_and_nothing_else_breaks(source: Workspace) -> None:
    source.set_setting("live model", f"{WORD},write")
    async with opened(source) as pilot:
        await press(pilot, "w")
        assert "evidence is followed by the probability of a label" in _page(pilot)
        await press(pilot, "j")
        assert frame(pilot).query_one(WhyPane).is_open


async def test_a_click_on_the_margin_puts_another_span_under_it(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "w")
        await press(pilot, "tab")
        score = frame(pilot).query_one("#text")
        line = next(y for y, row in enumerate(screen_text(pilot).splitlines()) if "house asks me why" in row)
        column = screen_text(pilot).splitlines()[line].index("house")
        await click(pilot, "#text", (column - score.region.x, line - score.region.y))
        assert "sadness .90, without it stays .90" in _page(pilot)


async def test_over_files_there_is_no_model_to_ask() -> None:
    async with opened(FileView(str(SAMPLE_DATA / "spans_sentences.jsonl"), warn=lambda line: None)) as pilot:
        await press(pilot, "w")
        assert "w why: it takes a text and a live model" in screen_text(pilot)


# The text by layer and word.

LAYERED = "layered:blip"


def _labelled(n: int) -> list[SpanSample]:
    """Joy where there is a blip, which gold marks; else sadness."""
    plain = ["door", "rain", "lead", "stone", "seven", "table", "paper", "wall"]
    found = []
    for at in range(n):
        word = "blip" if at % 2 else "blop"
        text = f"{plain[at % 8]} {plain[at % 7]} {word} and {plain[at % 5]} {at}"
        found.append(
            SpanSample(id=str(at), text=text, spans=(_mark(text, word),), emotion="joy" if at % 2 else "sadness")
        )
    return found


def _layered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n: int) -> Workspace:
    install_kind(monkeypatch, "layered", "tests.workbench.why.layered_backend:load")
    made = workspace(tmp_path / "w.duckdb", samples=_labelled(n), run=False)
    made.set_setting("live model", LAYERED)
    return made


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_w_again_shows_the_text_by_layer_and_word_with_gold_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    made = _layered(tmp_path, monkeypatch, 80)
    async with opened(made, size=size) as pilot:
        await press(pilot, "j", "w", "w")
        said = _page(pilot)
        assert said.startswith(" joy by layer; number: layer 2")
        assert "layer  0 1 2 3" in said
        assert "clear      ✓" in said
        row = next(line for line in said.splitlines() if "▌blip" in line)
        assert "██" in row
        assert "blip  0: " in said
        assert "left out" in said
        await press(pilot, "greater_than_sign")
        numbers = _page(pilot)
        assert numbers.startswith(" joy by layer, in deviations")
        row = next(line for line in numbers.splitlines() if "▌blip" in line)
        assert len(row.split()) == 5
        await press(pilot, "less_than_sign")
        assert _page(pilot) == said
        await press(pilot, "w")
        assert not frame(pilot).query_one(WhyPane).is_open
    made.close()


async def test_layers_say_what_to_do_where_the_model_tells_no_states(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "w", "w")
        assert "word:weep cannot states" in _page(pilot)
        assert "It takes embedded or an hf: model (m), and a dataset (d) with a label on ten texts" in _page(pilot)


async def test_layers_of_a_dataset_with_too_few_labelled_texts_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _layered(tmp_path, monkeypatch, 12)
    async with opened(made) as pilot:
        await press(pilot, "w", "w")
        assert "a probe needs more texts" in _page(pilot)
        await press(pilot, "j")
        assert "a probe needs more texts" in _page(pilot)
    made.close()


def _sign(pilot: Any) -> str:
    """Does the word that the label hangs on speak for it or against it, where the layers are told best?"""
    row = re.search(r"▌blip +\S+ +([+-])", _page(pilot))
    assert row is not None
    return row[1]


async def test_j_shifted_shows_the_layers_of_the_label_that_follows_and_it_stays_until_the_pane_closes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _layered(tmp_path, monkeypatch, 80)
    async with opened(made, size=(160, 45)) as pilot:
        await press(pilot, "j", "w", "J")
        assert "J next label: it takes the text by layer and word: w twice" in screen_text(pilot)
        await press(pilot, "w")
        assert screen_text(pilot).count("J label") == 1
        assert "J next label" in screen_text(pilot).splitlines()[-1]
        assert _sign(pilot) == "+"
        await press(pilot, "J")
        assert _page(pilot).startswith(" sadness by layer; number: layer 2")
        assert _sign(pilot) == "-"
        await press(pilot, "j", "j")
        assert _page(pilot).startswith(" sadness by layer")
        await press(pilot, "J")
        assert _page(pilot).startswith(" joy by layer")
        await press(pilot, "J", "escape", "w", "w")
        assert _page(pilot).startswith(" joy by layer")
    made.close()


async def test_esc_closes_the_pane_and_only_then_leaves_the_text_for_the_list_and_its_filter(
    source: Workspace,
) -> None:
    async with opened(source) as pilot:
        pane, listed = frame(pilot).query_one(WhyPane), frame(pilot).keys
        await press(pilot, "enter", "w", "escape")
        assert (pane.is_open, listed.in_list) == (False, False)
        assert "change" not in screen_text(pilot)
        await press(pilot, "w", "w", "escape")
        assert (pane.is_open, listed.in_list) == (False, False)
        await press(pilot, "escape")
        assert listed.in_list
        await press(pilot, "w", "q")
        assert not pane.is_open


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_layers_take_no_span(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]) -> None:
    install_kind(monkeypatch, "layered", "tests.workbench.why.layered_backend:load")
    bare = SpanSample(id="bare", text="a blip by the door", spans=())
    made = workspace(tmp_path / "w.duckdb", samples=[bare, *_labelled(80)], run=False)
    made.set_setting("live model", LAYERED)
    async with opened(made, size=size) as pilot:
        await press(pilot, "w")
        assert "No span of the text is under the cursor" in _page(pilot)
        assert "w shows the text by layer and word" in _page(pilot)
        await press(pilot, "w")
        assert _page(pilot).startswith(" joy by layer; number: layer 2")
        assert "▌blip" not in _page(pilot)
    made.close()


async def test_pictures(album: Album, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text without a span, its layers, and those of another label; a text with one, taken away."""
    install_kind(monkeypatch, "layered", "tests.workbench.why.layered_backend:load")
    bare = SpanSample(id="bare", text="a blip by the door", spans=())
    made = workspace(tmp_path / "w.duckdb", samples=[bare, *_labelled(80)], run=False)
    made.set_setting("live model", LAYERED)
    made.set_setting("theme", "dark")
    async with at_rest(EmotuiApp(lambda: made, poll=None)) as pilot:
        steps = {"no span": ("w",), "layers": ("w",), "label": ("J",), "away": ("escape", "j", "j", "w")}
        await album.walk(pilot, steps)
    made.close()


@pytest.mark.parametrize(
    ("text", "parts", "strong"),
    [
        ("Since she left I weep, and nobody asks.", 8, "weep"),
        (" ".join([*("They sang in the house that day.",) * 12, "I weep now."]), 13, "I weep now"),
    ],
)
async def test_w_leaves_out_each_word_of_a_labelled_text_or_each_sentence_of_a_long_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, parts: int, strong: str
) -> None:
    install_kind(monkeypatch, "word", "tests.backends.one_word_backend:load")
    made = Workspace.open(tmp_path / "w.duckdb")
    made.set_setting(FIRST_START, "done")
    made.set_setting("live model", WORD)
    samples = [LabelsGold(id="a", text=text, labels=("sadness",)), LabelsGold(id="b", text="We sing.", labels=())]
    add_samples(made.store, "labels", "mine", samples, "test")
    async with opened(made, (120, 45)) as pilot:
        await press(pilot, "w")
        page = frame(pilot).query_one("#why-page", Page)
        assert page.text.startswith(" sadness .90 and its change without each part")
        changes = re.findall(r"[+-]\.\d\d| \.00", page.text)
        assert len(changes) == parts
        assert changes.count("-.70") == 1, "below 0: it falls"
        assert re.search(rf"{strong}\s+-\.70", page.text)
        await press(pilot, "j")
        assert page.text.startswith(" neutral .80 and its change without each part"), "the next text is taken along"
        await press(pilot, "w")
        assert "layers" in screen_text(pilot)
        await press(pilot, "escape")
        assert not frame(pilot).query_one(WhyPane).is_open
        assert "We sing." in screen_text(pilot)
    made.close()
