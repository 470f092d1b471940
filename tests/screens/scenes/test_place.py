"""Scenes: what a person presses, and what is shown for it."""

import math
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs
from textual.pilot import Pilot
from textual.widgets import Input

from emotui.metrics.priors import PRIORS
from emotui.records import PLUTCHIK
from emotui.screens.browse.place import Browse
from emotui.screens.keymaps import keyed
from emotui.screens.scenes import shown_place
from emotui.screens.scenes.axis import _PRIORS, LABEL, SAME, Axis, alpha_text, heading, settings
from emotui.screens.scenes.charts import choice, figure_cells, heatmap, label_cells, sweep
from emotui.screens.scenes.place import Scenes
from emotui.screens.scenes.ribbons import lines
from emotui.screens.scenes.shown_place import SETTING
from emotui.screens.scenes.views import VIEWS
from emotui.screens.widgets.cell_width import width
from emotui.screens.widgets.line import _KINDS, Line, taken
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.number_format import share
from emotui.screens.widgets.page import Page
from emotui.workbench.files.view import FileView
from emotui.workbench.scenes.decoding import ABOUT_PRIORS, Figures, Sweep, Tuning
from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import SAMPLE_DATA
from tests.screens.driving import (
    click,
    frame,
    listed,
    make_cells,
    notified,
    opened,
    press,
    screen_text,
    settle,
    strike,
    until,
)
from tests.screens.scenes_workspace import add_scenes_run, scenarios, workspace


@pytest.fixture
def source(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "workspace.duckdb")


def place(pilot: "Pilot[None]") -> Scenes:
    return frame(pilot).query_one(Scenes)


def view(pilot: "Pilot[None]") -> str:
    return place(pilot).query_one("#scene-view", Page).text


async def test_4_opens_scenes_with_its_own_list_and_1_comes_back_to_the_spans(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "j", "j")
        spans = frame(pilot).pane.sample
        await press(pilot, "4")
        assert listed(pilot) == [sample.id for sample in scenarios()]
        assert place(pilot).scene == scenarios()[0]
        assert keyed("{alpha_less} {alpha_more} α: how far other emotions overrule") in screen_text(pilot)
        await press(pilot, "escape")
        assert keyed("Tab, then {alpha_less} {alpha_more} α: how far other emotions overrule") in screen_text(pilot)
        await press(pilot, "tab", "j")
        assert " " + keyed("{alpha_less} {alpha_more} α: how far other emotions overrule") in screen_text(pilot)
        assert "Tab, then" not in screen_text(pilot)
        assert place(pilot).scene == scenarios()[1]
        await press(pilot, "1")
        assert frame(pilot).pane.sample == spans
        assert frame(pilot).query_one(Browse).evidence is not None
        assert "✓" not in screen_text(pilot)
        await press(pilot, "4")
        assert place(pilot).scene == scenarios()[1]
        assert "F1 α0  0→now" in screen_text(pilot)


async def test_every_emotion_has_its_own_evidence_the_priors_pull_and_its_posterior(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "4")
        shown = place(pilot).rows
        redecoding = place(pilot).redecoding
        assert redecoding is not None
        assert [row.label for row in shown.rows] == list(PLUTCHIK)
        assert list(shown.rows) == redecoding.rows(0, 0.5)
        for line, row in zip(view(pilot).splitlines()[1:], shown.rows, strict=False):
            assert row.label in line
            for term in (row.own, row.bias, row.total):
                assert f"{term:+.2f}" in line


async def test_a_ribbon_an_emotion_says_where_it_is_on_and_flips_and_what_is_wrong_stands_under_it(
    source: Workspace,
) -> None:
    async with opened(source) as pilot:
        await press(pilot, "4")
        redecoding = place(pilot).redecoding
        assert redecoding is not None
        ribbons, lines = redecoding.ribbons(0), place(pilot).rows.text.splitlines()
        for label, row in enumerate(place(pilot).rows.rows):
            marks = {(1, 1): "▆", (1, 0): "▒", (0, 1): "▁", (0, 0): "·"}
            drawn = "".join(marks[int(on), row.gold] for on in ribbons.on[:, label])
            assert lines[label + 1][15:58] == drawn
            assert f" {row.posterior:.2f}".replace(" 0.", " .") in lines[label + 1][58:]
            assert ("■" in lines[label + 1][58:]) is bool(row.gold)
            for alpha, on in ribbons.flips(label)[:1]:
                assert f"{'↑' if on else '↓'}{alpha_text(alpha)}" in lines[label + 1]
            assert lines[label + 1][58] == lines[0][58] == "│", "the probability is apart from what runs along alpha"
        assert lines[0].startswith("  on at α ")
        assert lines[0][15 + 10] == "▼"
        assert lines[9].startswith("  wrong")
        assert f"{ribbons.wrong[10]} of 8" in lines[9]
        assert lines[10].startswith("  Macro-F1")
        assert lines[11].split() == ["α", "0", ".25", ".5", "1", "2", "5"]


async def test_beside_the_list_a_verdict_is_a_word_too_and_only_changes_of_the_list_have_a_colour(
    source: Workspace,
) -> None:
    async with opened(source, (120, 35)) as pilot:
        await press(pilot, "4")
        rows = place(pilot).rows
        assert rows.shown is not None
        every = tuple(replace(row, now=1 - row.gold, before=row.gold, clamp=None) for row in rows.rows)
        drawn = ["".join(part.text for part in line) for line in lines(replace(rows.shown, rows=every), 0, 73)]
        assert {len(line.rstrip()) <= 73 for line in drawn} == {True}
        for row, said in zip(every, drawn[1:], strict=False):
            assert ("■ →missed" if row.gold else "· →extra") in said[57:].replace("  ", " ")
        assert drawn[0].endswith("─ P(yes) gold now")
        line = frame(pilot).pane.query_one("#list-legend", Line)
        assert line.text.startswith("  ✗ wrong ▴")
        assert f"{SAME} same" in line.text
        table = frame(pilot).pane.rows
        base, first = table.rich_style, table.row(0)
        assert first is not None
        table.show_tags(" 0→now", {first.sample: "✗ ▾ ✓"}, "α0")
        styles = {cell.text: cell.style for cell in table._cells(first, base, plain=False)}
        assert styles["✗"] != styles["▾"]
        assert styles["✓"] == base


async def test_it_opens_at_the_alpha_that_cross_validation_chose_until_alpha_is_moved(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "4")
        redecoding = place(pilot).redecoding
        assert redecoding is not None
        chosen = redecoding.choose().choice.alpha
        assert place(pilot).alpha == chosen
        assert "◆ by cross-validation" in screen_text(pilot)
        await press(pilot, "D")
        other = place(pilot).redecoding
        assert other is not None
        assert place(pilot).alpha == other.choose().choice.alpha
        await press(pilot, "right", "D")
        assert place(pilot).alpha != chosen
        moved = place(pilot).alpha
        await press(pilot, "D")
        assert place(pilot).alpha == moved
        await press(pilot, "asterisk")
        assert place(pilot).alpha == chosen


async def test_an_emotion_is_chosen_from_any_pane_and_a_click_on_its_ribbon_takes_the_alpha(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "4", "J", "J", "K")
        assert "J K emotion" in screen_text(pilot).splitlines()[-1]
        rows = place(pilot).rows
        assert rows.cursor == 1
        await click(pilot, "#scene-rows", offset=(1 + 15 + 20, 4))
        await settle(pilot)
        assert rows.cursor == 3
        assert place(pilot).alpha == 1.0


async def test_left_and_right_weigh_the_prior_and_decode_the_whole_set_again(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "4", "right", "right")
        decoded, redecoding = place(pilot).decoded, place(pilot).redecoding
        assert decoded is not None
        assert redecoding is not None
        assert decoded.alpha == place(pilot).alpha == pytest.approx(0.6)
        assert (decoded.now == redecoding.decoded(0.6).now).all()
        await press(pilot, *["left"] * 20)
        assert place(pilot).alpha == 0
        assert place(pilot).decoded is not None
        assert "0▴ better, 0▾ worse, 0~ even, 40· same" in screen_text(pilot)


async def test_a_held_key_moves_the_bars_at_once_and_ends_where_it_stops(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "4")
        await strike(pilot, *["right"] * 5)
        redecoding = place(pilot).redecoding
        assert redecoding is not None
        assert list(place(pilot).rows.rows) == redecoding.rows(0, place(pilot).alpha)
        await settle(pilot)
        decoded = place(pilot).decoded
        assert decoded is not None
        assert decoded.alpha == place(pilot).alpha == pytest.approx(0.75)


async def test_alpha_can_be_typed_with_the_one_that_flips_are_counted_against(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "4", "equals_sign")
        await press(pilot, *"1.37", "tab", *"0.3", "enter")
        decoded, redecoding = place(pilot).decoded, place(pilot).redecoding
        assert decoded is not None
        assert redecoding is not None
        assert (decoded.alpha, decoded.other) == (1.37, 0.3)
        assert (decoded.before == redecoding.vectors((0.3,))[0]).all()
        await press(pilot, "equals_sign", *"much", "enter")
        assert "An α is a number from 0 to 1000" in screen_text(pilot)
        await press(pilot, "escape")
        assert place(pilot).alpha == 1.37


async def test_n_and_p_visit_just_the_scenarios_that_flip(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "4")
        decoded = place(pilot).decoded
        assert decoded is not None
        flips = sorted((*decoded.flips.gains, *decoded.flips.losses, *decoded.flips.even))
        ids = [sample.id for sample in scenarios()]
        visited = []
        for _ in [place_ for place_ in flips if place_ > 0]:
            await press(pilot, "n")
            scene = place(pilot).scene
            visited.append(scene.id if scene else None)
        assert visited == [ids[place_] for place_ in flips if place_ > 0]
        await press(pilot, "n")
        assert "None further down this list" in notified(pilot)
        await press(pilot, "p")
        scene = place(pilot).scene
        assert scene is not None
        assert scene.id == ids[flips[-2]]


async def test_flips_are_listed_gains_and_losses_apart_and_a_click_goes_there(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "4", "v", "v")
        decoded, redecoding = place(pilot).decoded, place(pilot).redecoding
        assert decoded is not None
        assert redecoding is not None
        lines = view(pilot).splitlines()
        assert lines[0] == f"gains  {len(decoded.flips.gains)}"
        assert f"losses  {len(decoded.flips.losses)}" in lines
        listed_gains = [line.split()[1] for line in lines[1 : 1 + len(decoded.flips.gains)]]
        assert listed_gains == [redecoding.scenes.ids[at] for at in decoded.flips.gains]
        await click(pilot, "#scene-view", offset=(6, 2))
        await settle(pilot)
        scene = place(pilot).scene
        assert scene is not None
        assert scene.id == listed_gains[1]


async def test_a_clamped_emotion_conditions_the_others_and_another_scenario_frees_it(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "4", "tab", "down", "c")
        rows, redecoding = place(pilot).rows, place(pilot).redecoding
        assert redecoding is not None
        assert list(rows.rows) == redecoding.rows(0, 0.5, {1: 1})
        assert "clamp yes" in screen_text(pilot)
        assert view(pilot).splitlines()[0].split()[:6] == ["log-odds", "own", "bias", "others", "clamp", "sum"]
        assert "trust is taken as yes, whatever its sum is" in view(pilot)
        joy = rows.rows[0]
        assert joy.clamped == pytest.approx(0.5 * redecoding._prior(0).couplings[0, 1])
        assert f"{joy.clamped:+.2f}" in view(pilot).splitlines()[1]
        await press(pilot, "w")
        assert "clamp: taken as yes, whatever these terms are" in view(pilot)
        await press(pilot, "K")
        assert f"clamp: trust is there         {joy.clamped:+8.2f}" in view(pilot)
        await press(pilot, "J", "w", "c")
        assert rows.rows[1].posterior == 0
        await press(pilot, "c")
        assert list(rows.rows) == redecoding.rows(0, 0.5)
        await press(pilot, "c", "j")
        assert place(pilot).clamps == {}
        await press(pilot, "c", "C")
        assert place(pilot).clamps == {}


async def test_tab_goes_from_emotion_to_emotion_and_past_the_last_one_to_the_next_pane(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "4", "tab")
        rows = place(pilot).rows
        assert pilot.app.focused is rows
        before = rows.cursor
        await press(pilot, "tab", "tab", "shift+tab")
        assert rows.cursor == before + 1
        await press(pilot, *["tab"] * (len(rows.rows) - rows.cursor - 1))
        assert (rows.cursor, pilot.app.focused) == (len(rows.rows) - 1, rows)
        await press(pilot, "tab")
        assert pilot.app.focused is not rows


async def test_w_says_why_by_the_terms_of_the_picked_emotion(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "4", "w")
        assert view(pilot).startswith("joy: ")
        assert "the model's own evidence" in view(pilot)
        joy = place(pilot).rows.rows[0]
        given = 1 / (1 + math.exp(-joy.total))
        assert f"{joy.total:+8.2f}  as a probability {share(given).strip()}" in view(pilot)
        terms = [line for line in view(pilot).splitlines() if "■" in line]
        assert terms
        assert all(line.rstrip().endswith(("for", "against")) for line in terms)
        assert f"P(yes) {share(joy.posterior).strip()}: over all that the other emotions may be" in view(pilot)
        await press(pilot, "tab", "down", "down")
        assert view(pilot).startswith("fear: ")
        await press(pilot, "w")
        assert place(pilot).part == "sum"


async def test_v_goes_through_every_view_and_each_part_of_it_shows_something(source: Workspace) -> None:
    expected = {
        "evidence": {"sum": "others", "why": "by size"},
        "sweep": {"sweep": "Acc_v"},
        "flips": {"flips": "gains"},
        "pairs": {
            "couplings": "bias",
            "information": "decoded (α .5)",
            "together": "now − gold",
            "given": "P(column | row)",
        },
        "emotions": {"rates": "recall by emotion", "Table 1": "Gemma-2-9b-it †"},
    }
    assert {name: list(parts) for name, parts in expected.items()} == {n: list(parts) for n, parts in VIEWS.items()}
    async with opened(source) as pilot:
        await press(pilot, "4")
        for name, parts in expected.items():
            assert place(pilot).view == name
            for part, words in parts.items():
                assert place(pilot).part == part
                assert words in view(pilot), part
                await press(pilot, ">")
            assert place(pilot).part == next(iter(parts)), "past the last part comes the first"
            await press(pilot, "v")
        assert place(pilot).view == "evidence"
        await press(pilot, "V", "<")
        assert place(pilot).part == "Table 1"


async def test_a_click_opens_a_view_and_a_part_of_it(source: Workspace) -> None:
    async with opened(source, (160, 45)) as pilot:
        await press(pilot, "4", "v", "v", "v")
        line = place(pilot).query_one("#scene-views", Line)
        assert "> (couplings) information  together  given" in line.text
        make_cells(pilot)
        await click(pilot, line, offset=(line._drawn.index("together"), 0))
        await settle(pilot)
        assert (place(pilot).view, place(pilot).part) == ("pairs", "together")
        make_cells(pilot)
        await click(pilot, line, offset=(line._drawn.index("flips"), 0))
        await settle(pilot)
        assert (place(pilot).view, place(pilot).part) == ("flips", "flips")


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_a_run_that_answers_in_words_is_decoded_and_says_how_far_its_answers_are_right(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    hard = workspace(tmp_path / "workspace.duckdb", run=False)
    dataset = next(one for one in hard.store.datasets.all() if one.name == "scenes")
    add_scenes_run(hard, dataset, scenarios(), way="yes-no")
    async with opened(hard, size) as pilot:
        await press(pilot, "4")
        redecoding = place(pilot).redecoding
        assert redecoding is not None
        answer = redecoding.answer(0, 0)
        assert answer is not None
        right = share(answer.sensitivity).strip(), share(answer.specificity).strip()
        rates = f"sensitivity {right[0]}, specificity {right[1]}"
        assert f"said {answer.word}: {rates}" in view(pilot)
        await press(pilot, "w")
        assert f"the model said {answer.word}" in view(pilot)
        assert f"are right on the other folds: {right[0]} where it is felt" in " ".join(view(pilot).split())
        for parts in VIEWS.values():
            await press(pilot, "v")
            for _ in parts:
                await press(pilot, ">")
                assert view(pilot)
            await press(pilot, "J", "right")


async def test_heatmaps_are_numbers_on_grounds_that_are_graded(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "4", "v", "v", "v")
        redecoding = place(pilot).redecoding
        assert redecoding is not None
        first = view(pilot).splitlines()[2].split()[1:-1]
        for written, value in zip(first, redecoding.whole.couplings[0, 1:], strict=True):
            assert written == (f"{value:.2f}".replace("0.", ".") if abs(value) < 1 else f"{value:.1f}")
        kinds = {part.kind for line in place(pilot).query_one("#scene-view", Page)._lines for part in line}
        assert {"cold-4", "heat-1"} <= kinds or {"cold-1", "heat-4"} <= kinds
        assert not set(view(pilot)) & set("·░▒▓█")
        assert not any("$mark" in style for kind, style in _KINDS.items() if kind.startswith("cold")), "no errors"


async def test_where_there_is_no_room_a_view_takes_the_place_of_the_ribbons_until_escape(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "4")
        assert "own" in view(pilot)
        await press(pilot, "V", ">", "tab", "down")
        assert "Gemma-2-9b-it †" in screen_text(pilot)
        assert not place(pilot).rows.display
        await press(pilot, "escape")
        assert place(pilot).rows.display
        assert place(pilot).view == "evidence"
        await press(pilot, "w")
        drawn = view(pilot).splitlines()
        ribbon = next(at for at, line in enumerate(drawn) if line.lstrip().startswith("on at α"))
        assert drawn[ribbon + 1].startswith("▸ joy")
        before = drawn[ribbon]
        await press(pilot, "right", "right", "right")
        assert next(line for line in view(pilot).splitlines() if line.lstrip().startswith("on at α")) != before


async def test_the_sweep_marks_the_honest_choice_and_shows_the_leaked_figure_only_when_asked(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "4", "v")
        assert "◆ chosen by cross-validation" in view(pilot)
        assert "honest macro-F1" in view(pilot)
        assert "scored on the same scenarios" not in view(pilot)
        await press(pilot, "Z")
        assert "scored on the same scenarios" in view(pilot)
        await press(pilot, "V", "Z")
        assert place(pilot).view == "sweep"


def test_the_curves_of_a_sweep_share_one_scale() -> None:
    def figures(f1: float, vector: float, hamming: float) -> Figures:
        return Figures(f1, hamming, vector, 1 - hamming, f1)

    series = figures(0.4, 0.1, 0.2), figures(0.2, 0.2, 0.0)
    lines = sweep(Sweep((0.0, 1.0), series, series), None, 0, Axis((0.0, 1.0), LABEL, 30, 1), 1, in_sample=False)
    assert ["".join(part.text for part in line)[LABEL:] for line in lines[1:4]] == [
        "█" * 30 + "▄" * 30,
        "▂" * 30 + "▄" * 30,
        "▄" * 30 + " " * 30,
    ]
    said = " ".join("".join(part.text for part in line).strip() for line in lines[5:])
    assert said == "full height .40; Acc_v: scenarios all right; Hamming↓: emotions wrong"
    assert [lines[line][1].kind.removesuffix("-now") for line in (1, 2, 3)] == ["said", "said", "mark"]


@pytest.mark.parametrize("cells", [30, 48, 80])
async def test_what_the_folds_chose_is_never_cut(source: Workspace, cells: int) -> None:
    async with opened(source) as pilot:
        await press(pilot, "4")
        chosen = place(pilot)._chosen
        assert chosen is not None
        by_fold = [replace(chosen.by_fold[0], prior="paper-couplings", alpha=alpha) for alpha in (0.1, 0.25, 0.5, 2, 5)]
        lines = choice(chosen, replace(chosen, by_fold=tuple(by_fold)), cells, in_sample=True)
        words = [" ".join("".join(part.text for part in line).split()) for line in lines]
        said = "folds chose " + ", ".join(f"paper-couplings {alpha}" for alpha in (".1", ".25", ".5", "2", "5"))
        assert said in " ".join(words)
        assert not any("…" in line for line in words)


async def test_another_prior_is_fitted_and_remembered(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "4", "t", "down", "enter")
        redecoding = place(pilot).redecoding
        assert redecoding is not None
        assert redecoding.tuning.prior == "paper-couplings"
        assert redecoding.tuning.prior in PRIORS
        assert set(_PRIORS) == set(PRIORS) == set(ABOUT_PRIORS)
        assert "prior: the paper's couplings alone" in screen_text(pilot)
        assert all(row.bias == 0 for row in place(pilot).rows.rows)
    async with opened(Workspace.open(source.store.path)) as pilot:
        await press(pilot, "4")
        redecoding = place(pilot).redecoding
        assert redecoding is not None
        assert redecoding.tuning.prior == "paper-couplings"


async def test_a_prior_that_cannot_be_fitted_says_why_and_is_not_remembered(tmp_path: Path) -> None:
    source = workspace(tmp_path / "w.duckdb")
    async with opened(source) as pilot:
        await press(pilot, "4", "t", "tab", *["backspace"] * 3, "0", "enter")
        notice = place(pilot).query_one("#scene-notice", Notice)
        assert notice.display
        assert "needs smoothing above 0" in str(notice.content)
        await press(pilot, "t", "tab", *["backspace"] * 3, "1", "enter")
        redecoding = place(pilot).redecoding
        assert redecoding is not None
        assert redecoding.tuning.smoothing == 1
        assert source.setting(SETTING) == {"prior": "paper", "smoothing": 1.0, "scaling": 1.0, "objective": "map"}


async def test_without_a_run_the_scenario_is_shown_and_the_key_that_asks_a_model(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb", run=False)) as pilot:
        await press(pilot, "4")
        shown = screen_text(pilot)
        assert "Mara had painted" in shown
        assert "R runs a model over these scenarios" in shown
        assert not place(pilot).rows.display


async def test_while_a_new_workspace_has_its_first_runs_the_answers_are_said_to_be_on_their_way(tmp_path: Path) -> None:
    over = threading.Event()
    async with opened(workspace(tmp_path / "w.duckdb", run=False)) as pilot:
        frame(pilot).session.begin("first start", lambda on_progress: over.wait(30), over.set)
        await press(pilot, "4")
        shown = screen_text(pilot)
        assert "The answers are on their way" in shown
        assert "Nobody has been asked yet" not in shown
        over.set()
        await settle(pilot, work=True)
        assert "Nobody has been asked yet" in screen_text(pilot)


async def test_without_scenarios_the_place_says_how_to_bring_some_in(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb", n=0)) as pilot:
        await press(pilot, "4")
        assert "emotui import scenes FILE brings some in" in screen_text(pilot)
        await press(pilot, "1")
        assert frame(pilot).query_one(Browse).evidence is not None


async def test_over_files_the_place_says_that_it_needs_a_workspace() -> None:
    async with opened(FileView(str(SAMPLE_DATA / "spans_sentences.jsonl"), warn=lambda line: None)) as pilot:
        await press(pilot, "4")
        assert "emotui import scenes FILE" in screen_text(pilot)


async def test_annotators_stand_in_the_heading_on_request(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "4", "a")
        heading = place(pilot).query_one("#scene-title", Line).text
        assert all(name in heading for name in ("A1", "A2", "A3"))
        assert "joy ant" in heading


async def test_the_run_is_exported_as_records_that_decode_takes(source: Workspace, tmp_path: Path) -> None:
    from emotui.formats import read
    from emotui.records import ScenesPrediction

    target = tmp_path / "out.jsonl"
    async with opened(source) as pilot:
        await press(pilot, "4", "e")
        pilot.app.screen.query_one("#path", Input).value = str(target)
        await press(pilot, "enter")
        assert any("40 predictions written" in words for words in notified(pilot))
    records = read(str(target), ScenesPrediction).records
    assert [record.id for record in records] == [sample.id for sample in scenarios()]
    assert all(record.scores for record in records)


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (110, 30), (220, 70)])
async def test_every_view_draws_at_every_size(source: Workspace, size: tuple[int, int]) -> None:
    async with opened(source, size) as pilot:
        await press(pilot, "4")
        for parts in VIEWS.values():
            await press(pilot, "v")
            for _ in parts:
                await press(pilot, ">")
                assert view(pilot)
            await press(pilot, "J", "right")
        await pilot.resize_terminal(100, 40)
        await settle(pilot)
        assert place(pilot).rows.text


async def test_without_colour_flips_gold_and_signs_are_still_told_apart(
    source: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(source) as pilot:
        await press(pilot, "4")
        decoded = place(pilot).decoded
        assert decoded is not None
        first = min((*decoded.flips.gains, *decoded.flips.losses))
        await press(pilot, *["j"] * first)
        text = place(pilot).rows.text
        assert "→" in text
        assert set("▆▁·") <= set(text)
        await press(pilot, "v", "v", "v")
        assert "-" in view(pilot)


def test_emotions_have_whole_names_where_all_squares_keep_their_places_and_else_the_short_ones_of_any_list() -> None:
    names, matrix = ("joy", "anger", "anticipation"), np.zeros((3, 3))
    cell = figure_cells([matrix], names)
    narrow, wide = 3 * cell + 5, 3 * cell + 14
    assert (label_cells(names, cell, narrow), label_cells(names, cell, wide)) == (5, 14)
    for label, first in ((5, ["joy", "ang", "ant"]), (14, list(names))):
        rows = ["".join(part.text for part in line) for line in heatmap("t", names, matrix, cell=cell, label=label)]
        assert rows[1].split() == ["joy", "ang", "ant"]
        assert [row.split()[0] for row in rows[2:]] == first
    assert label_cells(names, cell, 2 * narrow + 2, 2) == 5, "whole names would put the second square under the first"


async def test_the_columns_and_keys_of_scenes_are_there_before_the_prior_is_fitted(
    source: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted, fit = threading.Event(), shown_place.fit

    def late(*asked: Any) -> Any:
        fitted.wait(20)
        return fit(*asked)

    monkeypatch.setattr(shown_place, "fit", late)
    async with opened(source) as pilot:
        try:
            await strike(pilot, "4")
            await until(pilot, "F1 α0  0→now")
            assert "M" not in frame(pilot).pane.rows._row(0).text[12:20]
            assert screen_text(pilot).splitlines()[-1].startswith(keyed(" {alpha_less} {alpha_more} α  J K emotion"))
        finally:
            fitted.set()


async def test_of_a_run_that_goes_on_it_is_said_of_how_many_scenarios_alpha_was_chosen(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "4")
        redecoding = place(pilot).redecoding
        assert redecoding is not None
        left, _ = settings(redecoding, 0.1, 0.1, 0, 76, "", "so far, 112 of 181")
        assert "◆ by cross-validation so far, 112 of 181  prior" in "".join(part.text for part in left)
        run = place(pilot)._run
        assert run is not None
        place(pilot)._run = structs.replace(run, state="running", n=181)
        place(pilot)._draw_slider()
        assert "so far, 40 of 181" in place(pilot).query_one("#scene-alpha", Line).text


def test_a_word_never_ends_right_before_the_key_of_the_views(source: Workspace) -> None:
    redecoding = source.scenes().redecode(source.runs(None)[0], Tuning()) if source.scenes else None
    assert redecoding is not None
    decoded = redecoding.decoded(0.1)
    for cells in range(60, 160):
        for part in VIEWS["evidence"]:
            left, right = heading("this scenario", VIEWS, "evidence", part, decoded, cells)
            said = "".join(one.text for one in left)
            assert said.startswith(" ")
            if "better" in said or "▴" in said:
                assert width(said) + 2 <= cells - taken(right) - 1
                assert "·" in said, "those that stay as they are count too"
