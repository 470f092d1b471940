"""Rephrase: what the rephrasings came to, and chains as a file."""

from pathlib import Path

import msgspec
import pytest
from textual.widgets import Input

from emotui.metrics.rephrasing_statistics import statistics_report
from emotui.records import Attempt, Chain
from emotui.screens.rephrase.statistics import VIEWS, Figures
from emotui.screens.widgets.page import Page
from tests.screens.driving import opened, press, screen_text, settle
from tests.screens.rephrase.driving import IMPLICIT, arrive, submit
from tests.screens.rephrase_workspace import TEXTS, Scripted, scripted


@pytest.fixture
def source(tmp_path: Path) -> Scripted:
    return scripted(tmp_path)


async def test_statistics_are_drawn_and_what_is_undefined_says_why(source: Scripted) -> None:
    async with opened(source) as pilot:
        here = await arrive(pilot, "f3")
        assert "Nothing to count" in screen_text(pilot)
        await press(pilot, "escape", "i")
        await submit(pilot, IMPLICIT)
        await press(pilot, "escape", "f3")
        figures = here.query_one(Figures)
        assert figures.document is not None
        assert figures.document["needed"]["1"] == 1
        drawn = here.query_one("#figures-page", Page).text
        for title in ("rephrasings needed", "words of the gold emotion a text", "KL from the originals", "negation"):
            assert title in drawn
        assert "– R2, R3, R4: there is no text" in drawn
        await press(pilot, "v")
        table = here.query_one("#figures-page", Page).text
        assert "KL reverse" in table
        assert "original" in table.splitlines()[0]
        await press(pilot, "a")
        assert "no reviewer has confirmed a rephrasing" in screen_text(pilot)
        await press(pilot, "a")
        assert figures.whose == "someone"
        assert "KL reverse" in here.query_one("#figures-page", Page).text
        await press(pilot, "escape")
        assert here.mode == "writing"


async def test_chains_are_written_to_a_file_as_records(source: Scripted, tmp_path: Path) -> None:
    async with opened(source) as pilot:
        await arrive(pilot, "i")
        await submit(pilot, IMPLICIT)
        await press(pilot, "escape", "e")
        path = tmp_path / "chains.jsonl"
        pilot.app.screen.query_one(Input).value = str(path)
        await press(pilot, "enter")
        await settle(pilot)
        chains = [msgspec.json.decode(line, type=Chain) for line in path.read_bytes().splitlines()]
        assert [chain.id for chain in chains] == [key for key, _, _ in TEXTS]
        assert [one.text for one in chains[0].attempts] == [IMPLICIT]


def _drawn(view: str, document: dict[str, object], cells: int = 150) -> list[str]:
    return ["".join(part.text for part in line).rstrip() for line in VIEWS[view](document, cells)]


def test_every_figure_of_section_4_and_appendix_b_is_a_plot_over_originals_variants_and_rounds() -> None:
    """At a width at which one plot stands above the other: its title, then a line a column."""
    chains = [
        Chain(
            id="a",
            text="so happy",
            label="joy",
            predicted="joy",
            attempts=(Attempt(text="not a cloud", predicted="fear"),),
        ),
        Chain(id="b", text="a plain day", label="joy", predicted="fear", attempts=()),
    ]
    variants = {"BT-1": {"a": "very happy"}, "BT-10": {"a": "never sad"}, "BT-0": {"b": "a day"}}
    drawn = _drawn("plots", statistics_report(chains, {"happy": {"joy"}, "sad": {"sadness"}}, variants), 60)
    compared = ["BT-1", "BT-10", "BT-0", "R1", "R2", "R3", "R4", "successful"]

    def plot(title: str) -> dict[str, str]:
        start = next(place for place, line in enumerate(drawn) if line.startswith(title)) + 1
        lines = drawn[start : drawn.index("", start)]
        return {line.split()[0]: line.split()[-1] for line in lines}

    needed = drawn[drawn.index("rephrasings needed  texts each") + 1 :][:8]
    assert [line.rsplit(maxsplit=1)[1] for line in needed] == ["1", "0", "0", "0", "0", "0", "0", "1"]
    assert needed[-1].startswith("misread")
    assert list(plot("KL from the originals, in nats")) == compared
    for title in (
        "words of the gold emotion a text",
        "kind  █ explicit ▒ misleading ░ implicit",
        "texts with a negation",
    ):
        assert list(plot(title)) == ["original", "misread", *compared]
    words = plot("words of the gold emotion a text")
    assert (words["original"], words["BT-1"], words["BT-10"], words["BT-0"]) == ("1.00", "1.00", ".00", "–")
    assert (plot("texts with a negation")["BT-10"], plot("texts with a negation")["R1"]) == ("1.00", "1.00")
    kinds = {
        line.split()[0]: line.split()[3]
        for line in drawn[drawn.index("kind  █ explicit ▒ misleading ░ implicit") + 1 :][:8]
    }
    assert plot("kind  █")["BT-1"] == ".00"
    assert next(line for line in drawn if line.startswith("BT-10") and "▒" in line).split()[4:] == [
        ".00",
        "1.00",
        ".00",
    ]
    assert (set(kinds["BT-1"]), set(kinds["BT-10"]), set(kinds["R1"])) == ({"█"}, {"▒"}, {"░"})
    notes = " ".join(drawn)
    assert "– BT-0: it has no variant of a text that the classifier got right" in notes
    assert "– R2, R3, R4: there is no text" in notes
    assert "– KL of original: the other columns are compared with it" in notes
    assert "with 1 added to each count" in notes
