"""Sheets, one of each kind with what is hard to show: text can be read, nothing is cut, the cursor is seen anyhow."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from textual.events import Ready
from textual.screen import Screen

from emotui import screens
from emotui.metrics.saturation import Saturation
from emotui.screens.actions import SHARED
from emotui.screens.annotate import dialogs as annotate
from emotui.screens.app import EmotuiApp
from emotui.screens.dialogs.choices import Choice, ChoiceDialog, NameDialog, OrderDialog
from emotui.screens.dialogs.dialog import Dialog, OptionDialog
from emotui.screens.dialogs.file import ExportDialog, FileDialog
from emotui.screens.dialogs.filter import FilterDialog
from emotui.screens.dialogs.help import EVERYWHERE, HERE, WORDS, HelpDialog, KeysDialog, Row, rows_of_words
from emotui.screens.dialogs.import_file import ImportDialog, LabelsDialog
from emotui.screens.dialogs.run_model import ModelDialog, Over
from emotui.screens.dialogs.runs import GoldDialog, RunDialog
from emotui.screens.dialogs.sql import SqlDialog
from emotui.screens.generate.place import RateDialog
from emotui.screens.keymaps import Chosen
from emotui.screens.list_state import ListState
from emotui.screens.long_text import Drafts
from emotui.screens.models.sheet import ModelSheet
from emotui.screens.notes.actions import CODES as NOTE_CODES
from emotui.screens.notes.actions import NOTE as NOTE_TEXT
from emotui.screens.notes.actions import in_words
from emotui.screens.notes.sheets import Codebook, NoteDialog
from emotui.screens.places import SIGNS
from emotui.screens.rephrase.attempts import NewRoundDialog, SuggestionDialog
from emotui.screens.results.view import MethodDialog
from emotui.screens.scenes.place import AlphaDialog, PriorDialog
from emotui.screens.widgets.textual_private_text import Input
from emotui.store.query import Dataset
from emotui.workbench.annotate.scheme import built_in
from emotui.workbench.datasets.sources import LabelSheet, Proposed
from emotui.workbench.drafts import Draft, Field
from emotui.workbench.generation.rating_batches import RatingOptions
from emotui.workbench.models.benchmark import Rate
from emotui.workbench.models.discovery import AtHand
from emotui.workbench.models.loaded import OnShelf
from emotui.workbench.notes import Code, Note
from emotui.workbench.rephrase.views import Progress, Round, Suggestion
from emotui.workbench.runs.choices import RunChoices
from tests.screens.driving import drawn, screen_text
from tests.screens.looks.reading import PROBE, Run, rows, unmarked, wrong_in

LONG = "everything that a person could ever say about this text in one go, and a little more than that besides"
WIDE = "日本語の感情 " * 12
MODEL = "hf:organisation/model-name"
ROWS = [Row(one.shown, one.label, LONG, "Browse", one.id, WIDE * (n % 2)) for n, one in enumerate(SHARED)]
CHOICES = [Choice("a", LONG, "about it"), Choice("b", WIDE, LONG), Choice("c", "short", "about it")]
DATASET = Dataset(1, "sample", "spans", 10_000, "x", "sample data")
NOTE = Note(1, "ann", "a note on this text", ("irony", "metaphor"), "2025-01-01", "2025-01-01")
CODES = [Code("irony", (1, 2), ("ann", "bob"), LONG), Code(WIDE, tuple(range(300)), ("ann",), WIDE)]
PROGRESS = Progress(10_000, 300, (5, 2, 1, 1), 2, 3, 9_700, 46)
SUGGESTED = [Suggestion(LONG, "neutral", 0.41, 0.81, ()), Suggestion(WIDE, "joy", 0.9, None, ("sad", "alone"))]
ROUND = Round(DATASET, "embedded", "x", "ann", 1, "", ("joy",), 1, 2, None, {})  # type: ignore[arg-type]
LABELS = LabelSheet(DATASET, MODEL, ("glad", WIDE), ("joy", "sadness"), {}, {"glad": "joy", WIDE: None})
DRAFTS = Drafts(None, lambda: None)  # type: ignore[arg-type]
FIELDS = Field(NOTE_TEXT, "bob", 1, 1), Field(NOTE_CODES, "bob", 1, 1)
DRAFTS.begin({FIELDS[0]: Draft(text=LONG)})
SESSION = SimpleNamespace(query="", drafts=DRAFTS, field=lambda name: Field(name, "bob"))
SHELF = [
    OnShelf(MODEL, "loaded", memory=4_000_000_000, rates={"tokens out": Rate("tokens", 40.0, 100, 2.0)}),
    OnShelf("embedded", "failed", errors=(LONG,)),
    OnShelf("hf:x", "", AtHand("hf:x", "hf", "x", 2_000_000_000, "bfloat16", 4096, ("generate", "score"))),
]
MODELS = SimpleNamespace(job=None, models=SimpleNamespace(shelf=lambda: SimpleNamespace(rows=lambda now: SHELF)))
RUN = Over(
    "sample",
    10_000,
    (),
    None,
    (0, 1, 2),
    lambda *_: RunChoices(("retrieve", "highlight"), ("temperature", "top_p", "retries", "constrain"), True, LONG),
    lambda *_: {},
)

SHEETS: Sequence[Callable[[], "Dialog[Any]"]] = (
    lambda: annotate.NoteDialog("a note", DRAFTS, Field("note", "bob")),
    lambda: annotate.WordDialog(1, 3, "語"),
    lambda: annotate.LabelDialog([(LONG, "about it"), (WIDE, LONG), ("joy", "")]),
    lambda: annotate.ConsentDialog(f"{LONG}\n\n{LONG}"),
    annotate.AdjudicateDialog,
    lambda: annotate.GuidelinesDialog(built_in("spans")),
    lambda: AlphaDialog(0.5, 0),
    lambda: PriorDialog({"exact": LONG, "bias": "about it"}, "exact", 1, "fitted"),
    lambda: Codebook(CODES, Saturation((1, 1), (1, 2), None, None), "sample", lambda *_: None),
    lambda: NoteDialog("sample", "bob", None, [f"{NOTE.annotator}: {in_words(NOTE)}"] * 2, CODES, DRAFTS, FIELDS),
    lambda: FileDialog("Notes and codes", "notes.csv", (".csv", ".jsonl")),
    lambda: ExportDialog(10_000, None, with_all=True),
    lambda: ChoiceDialog("Dataset", CHOICES, "b"),
    lambda: OrderDialog("Order", CHOICES, "b", descending=True),
    lambda: ModelDialog(RUN, MODEL),
    lambda: GoldDialog(MODEL, lambda: Proposed(DATASET, MODEL, 1, ("run",))),
    lambda: ModelSheet(MODELS, "embedded", tries=True),  # type: ignore[arg-type]
    lambda: ImportDialog(None),  # type: ignore[arg-type]
    lambda: SqlDialog(lambda *_: None, SESSION),  # type: ignore[arg-type,return-value]
    lambda: RunDialog("Run", CHOICES, "b", ("a",), compares=True),
    lambda: NameDialog("Annotator", (LONG, "about it"), "語", why=LONG),
    lambda: HelpDialog("Browse", {HERE: ROWS[:10], EVERYWHERE: ROWS, WORDS: rows_of_words([("F1", LONG)], SIGNS)}),
    lambda: FilterDialog(ListState(), ["joy", WIDE, "sadness"], (), ["short", LONG]),
    lambda: LabelsDialog(lambda: LABELS, lambda _: {}),
    lambda: KeysDialog(SHARED, Chosen(), lambda _: SHARED, lambda _: ()),
    lambda: RateDialog("ann", RatingOptions()),
    lambda: NewRoundDialog(ROUND, PROGRESS, MODEL),
    lambda: SuggestionDialog(MODEL, "joy", SUGGESTED),
    lambda: MethodDialog("F1", [LONG, "P, R: over all spans together"]),
)

SIZES = ((60, 16), (100, 30))


class Sheets(EmotuiApp):
    """Sheets over nothing."""

    def get_default_screen(self) -> Any:
        return Screen()

    def on_ready(self, event: Ready) -> None:
        """There is no frame whose source could be opened."""
        event.prevent_default()


def test_a_sheet_of_every_kind_is_looked_at() -> None:
    for module in pkgutil.walk_packages(screens.__path__, f"{screens.__name__}."):
        importlib.import_module(module.name)
    there = {kind for kind in _kinds(Dialog) if kind.__module__.startswith("emotui.")}
    assert there - {type(make()) for make in SHEETS} == {OptionDialog}


def _reversed(screen: list[list[Run]]) -> bool:
    return any(run.style.reverse for line in screen for run in line)


def _kinds(of: type) -> Iterator[type]:
    for kind in of.__subclasses__():
        yield kind
        yield from _kinds(kind)


@pytest.mark.parametrize("colours", [True, False])
async def test_sheets(colours: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not colours:
        monkeypatch.setenv("NO_COLOR", "1")
    wrong: dict[str, str] = {}
    app = Sheets(lambda: None, poll=None)  # type: ignore[arg-type,return-value]
    async with app.run_test(size=SIZES[0]) as pilot:
        app.register_theme(PROBE)
        app.theme = "probe"
        for make in SHEETS:
            dialog = make()
            await app.push_screen(dialog)
            for size in SIZES if colours else SIZES[:1]:
                await pilot.resize_terminal(*size)
                await drawn(pilot)
                screen = rows(pilot)
                found = (
                    wrong_in(pilot, screen) if colours else {f"{text!r} is not reversed" for text in unmarked(screen)}
                )
                if not colours and dialog.query("Input, OptionList, Switches") and not _reversed(screen):
                    found.add("no cursor")
                for what in found:
                    wrong.setdefault(what, f"{type(dialog).__name__} {size[0]}x{size[1]}")
            await dialog.dismiss(None)
    assert "\n".join(f"{where}: {what}" for what, where in sorted(wrong.items())) == ""


async def test_a_sheet_has_one_of_two_widths() -> None:
    app = Sheets(lambda: None, poll=None)  # type: ignore[arg-type,return-value]
    widths: dict[int, set[str]] = {}
    async with app.run_test(size=(160, 45)) as pilot:
        for make in SHEETS:
            dialog = make()
            await app.push_screen(dialog)
            await drawn(pilot)
            widths.setdefault(dialog.query_one("#sheet").outer_size.width, set()).add(type(dialog).__name__)
            await dialog.dismiss(None)
    assert sorted(widths) == [84, 120], widths


async def test_the_glossary_says_all_of_a_sentence_and_a_long_term_has_a_line_of_its_own() -> None:
    about = "agreement of people beyond chance over all that they said of all texts, 1 where they always say the same"
    rows = {HERE: [], EVERYWHERE: [], WORDS: [Row("F1", "", "short"), Row("alpha, Krippendorff's alpha", "", about)]}
    app = Sheets(lambda: None, poll=None)  # type: ignore[arg-type,return-value]
    async with app.run_test(size=(80, 24)) as pilot:
        sheet = HelpDialog("Browse", rows)
        await app.push_screen(sheet)
        await drawn(pilot)
        sheet.action_field(2)
        await drawn(pilot)
        lines = [line.strip(" │┃") for line in screen_text(pilot).splitlines()]
        at = next(at for at, line in enumerate(lines) if "Krippendorff's alpha" in line)
        assert lines[at].endswith("Krippendorff's alpha"), "its sentence begins under it"
        assert " ".join(lines[at + 1 : at + 4]).strip() == about


async def test_one_letter_finds_its_key_then_its_mark_before_what_only_says_it() -> None:
    rows = {
        HERE: [Row("j", "next", "of many"), Row("m", "models", "which is asked")],
        EVERYWHERE: [Row("j", "next", "of many"), Row("M", "next miss", "the next one")],
        WORDS: [Row("M, m, ·", "", "in the strip")],
    }
    app = Sheets(lambda: None, poll=None)  # type: ignore[arg-type,return-value]
    async with app.run_test(size=(80, 24)) as pilot:
        sheet = HelpDialog("Browse", rows)
        await app.push_screen(sheet)
        await drawn(pilot)
        sheet.query_one("#find", Input).value = "m"
        await drawn(pilot)
        assert [row.sign for row in sheet.shown] == ["m", "M, m, ·", "M", "j"]
