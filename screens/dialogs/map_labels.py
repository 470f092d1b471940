"""What a source's labels are called in gold: a guess to accept or to change, kept only by Enter."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from textual.binding import Binding
from textual.widget import Widget
from textual.widgets import Label

from emotui.screens.dialogs.dialog import OptionDialog, option
from emotui.screens.dialogs.textual_private_options import PickList
from emotui.screens.requests import LatestRequest
from emotui.screens.widgets.cell_width import shown, width

if TYPE_CHECKING:
    from emotui.workbench.datasets.sources import LabelSheet

_NONE = "–"


class LabelsDialog(OptionDialog["tuple[LabelSheet, Mapping[str, str]]"]):
    """j and k choose a label of theirs, ← and → go through gold's and none; Enter keeps what is shown.

    Args:
        look: what there is to map, asked in a thread.
        nearest: the nearest label of gold by embedding; asked in a thread, by `e`, since a model is loaded for it.
    """

    BINDINGS = [
        Binding("left", "turn(-1)", show=False, priority=True),
        Binding("right", "turn(1)", show=False, priority=True),
        Binding("e", "nearest", show=False),
        Binding("delete", "empty", show=False),
    ]

    def __init__(
        self,
        look: "Callable[[], LabelSheet]",
        nearest: "Callable[[LabelSheet], Mapping[str, tuple[str, float]]]",
    ) -> None:
        super().__init__(
            "Labels", ("j k", "move"), ("← →", "change"), ("e", "nearest"), ("Del", "none"), ("Enter", "keep")
        )
        self._sheet: LabelSheet | None = None
        self._chosen: dict[str, str | None] = {}
        self._near: Mapping[str, tuple[str, float]] = {}
        self._looking: LatestRequest[None, LabelSheet] = LatestRequest(
            "labels", self, lambda _: look(), self._show, lambda _, why: self.refuse(why)
        )
        self._nearing: LatestRequest[LabelSheet, Mapping[str, tuple[str, float]]] = LatestRequest(
            "nearest", self, nearest, self._take_nearest, lambda _, why: self.refuse(why)
        )

    def body(self) -> list[Widget]:
        return [Label("reading the labels", id="what", markup=False), PickList()]

    def on_mount(self) -> None:
        super().on_mount()
        self._looking.ask(None)

    def _show(self, _: None, sheet: "LabelSheet") -> None:
        self._sheet = sheet
        self._chosen = {label: sheet.kept.get(label, sheet.guess.get(label)) for label in sheet.theirs}
        said = f"What {shown(sheet.source)} calls a feeling, and what gold of {shown(sheet.dataset.name)} does"
        if not sheet.theirs:
            said = f"Gold of {shown(sheet.dataset.name)} has every label that {shown(sheet.source)} gives"
        self.query_one("#what", Label).update(said)
        self._draw(0)

    def _take_nearest(self, sheet: "LabelSheet", near: "Mapping[str, tuple[str, float]]") -> None:
        """Show it beside the guess; where there is no guess it is proposed."""
        self._near = near
        self.refuse("")
        for label, (ours, _) in near.items():
            if self._chosen.get(label) is None and label not in sheet.kept:
                self._chosen[label] = ours
        self._draw(self.at)

    def _draw(self, at: int) -> None:
        widest = max(map(width, self._chosen), default=0)
        self.options.clear_options()
        self.options.add_options(
            [
                option(label, f"  →  {shown(ours or _NONE)}   {self._why(label, ours)}", "", widest)
                for label, ours in self._chosen.items()
            ]
        )
        self.options.highlighted = at if self._chosen else None

    def _why(self, label: str, ours: str | None) -> str:
        """Where the proposal is from, and the nearest one where that is another."""
        assert self._sheet is not None
        near, cosine = self._near.get(label, (None, 0.0))
        if ours is not None and self._sheet.kept.get(label) == ours:
            said = "kept"
        elif ours is not None and self._sheet.guess.get(label) == ours:
            said = "by name"
        elif ours is not None and near == ours:
            said = f"nearest {cosine:.2f}"
        else:
            said = ""
        return f"{said}   nearest {shown(near)} {cosine:.2f}".strip() if near is not None and near != ours else said

    def action_turn(self, step: int) -> None:
        """Another label of gold for the one under the cursor, or none."""
        if self._sheet is not None and self._chosen:
            label = list(self._chosen)[self.at]
            wheel = [None, *self._sheet.own]
            here = wheel.index(self._chosen[label]) if self._chosen[label] in wheel else 0
            self._chosen[label] = wheel[(here + step) % len(wheel)]
            self._draw(self.at)

    def action_empty(self) -> None:
        """No label for the one under the cursor."""
        if self._chosen:
            self._chosen[list(self._chosen)[self.at]] = None
            self._draw(self.at)

    def action_nearest(self) -> None:
        """Ask for the nearest labels."""
        if self._sheet is not None and self._sheet.theirs:
            self.refuse("asking the embedded model")
            self._nearing.ask(self._sheet)

    def result(self) -> "tuple[LabelSheet, Mapping[str, str]] | None":
        if self._sheet is None:
            return None
        others = {label: ours for label, ours in self._sheet.kept.items() if label not in self._chosen}
        return self._sheet, others | {label: ours for label, ours in self._chosen.items() if ours is not None}
