"""Headings of the Scenes place and what it tells the list, from values to parts and words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from emotui.screens.keymaps import keyed
from emotui.screens.scenes.axis import alpha_text
from emotui.screens.widgets.line import Part
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.records import ScenesGold
    from emotui.workbench.scenes.decoding import Decoded, Redecoding, Row, SceneRun

Sides = tuple[list[Part], list[Part]]


def title(scene: "ScenesGold", run: Run | None, way: str, *, annotators: bool) -> Sides:
    """The scenario, its subject and perhaps its annotators' vectors; the run and by which way it asked."""
    left = [Part(f" {scene.id}", "strong"), Part("  subject ", "dim"), Part(scene.subject or "not named")]
    if annotators:
        from emotui.workbench.scenes.service import annotator_letters

        for name, vector in annotator_letters(scene).items():
            left += [Part(f"  {name} ", "dim"), Part(vector, "gold")]
    if run is None:
        return left, []
    state = f" {run.state}" if run.state != "done" else ""
    asked = f" {way}" if way and way != "heads" else ""
    return left, [Part(run.model, "said", "do('run')"), Part(asked, "dim"), Part(f"{state} ", "mark")]


def settings(
    redecoding: "Redecoding", alpha: float, chosen: float | None, place: int | None, cells: int, name: str = ""
) -> Sides:
    """Alpha and whether cross-validation chose it, the prior, what is decoded for, and which fold the scenario is in.

    `name`: of the scenario, where it has no line of its own.
    """
    from emotui.workbench.scenes.decoding import ABOUT_OBJECTIVES

    tuning = redecoding.tuning
    prior = f"  {tuning.prior} s {alpha_text(tuning.smoothing)}"
    if tuning.scaling != 1.0:
        prior += f" T {redecoding.temperature:.2f}"
    left = [Part(f" {name} " if name else "", "strong"), Part(f" α {alpha_text(alpha):<4}", "strong", "do('alpha')")]
    if chosen is not None:
        at = "" if chosen == alpha else f" {alpha_text(chosen)}"
        left.append(Part(f"◆{at} by cross-validation" if cells >= 70 else f"◆{at} CV", "key", "do('chosen')"))
    left += [
        Part(prior, "plain", "do('prior')"),
        Part(f"  {ABOUT_OBJECTIVES[tuning.objective]}", "plain", "do('objective')"),
    ]
    if place is None:
        return left, []
    fold = f"fold {redecoding.fold(place) + 1}/{len(redecoding.priors)}"
    room = cells - sum(len(part.text) for part in left) - 1
    fitting = (said for said in (f"{fold}, fitted without it ", f"{fold} ") if len(said) < room)
    return left, [Part(said, "dim") for said in fitting][:1]


def tabs(views: Sequence[str], here: str, decoded: "Decoded", cells: int) -> Sides:
    """The views by name, and as far as there is room how many scenarios flip."""
    flips = decoded.flips
    words = f"{len(flips.gains)}▴ {len(flips.losses)}▾ {len(flips.even)}~ "
    names = list(views)
    if sum(len(name) + 1 for name in names) + 1 > cells:
        at = f"  view {names.index(here) + 1} of {len(names)}"
        return [Part(" "), Part(f" {here} ", "here"), Part(at, "dim")], [
            Part(keyed("{view}"), "key", "do('view')"),
            Part(" next "),
        ]
    gap = " " if sum(len(name) + 2 for name in names) + len(words) + 1 < cells else ""
    left = [Part(" ")]
    left += [Part(f"{gap}{name} ", "here" if name == here else "dim", f"tell('view', '{name}')") for name in names]
    room = cells - sum(len(part.text) for part in left)
    for said in (f"flips vs α {alpha_text(decoded.other)}  {words}", words):
        if len(said) < room:
            return left, [Part(said, "dim", "do('alpha')")]
    return left, []


def tags(scenes: "SceneRun", decoded: "Decoded") -> dict[int, str]:
    """What the list says beside each scenario: its vector right or wrong at the other alpha, how it flips, and now."""
    sign: dict[int, str] = {}
    for mark, places in (("▴", decoded.flips.gains), ("▾", decoded.flips.losses), ("~", decoded.flips.even)):
        sign |= dict.fromkeys(places, mark)
    was, now = ((vectors == scenes.gold).all(axis=1).tolist() for vectors in (decoded.before, decoded.now))
    return {
        number: f"{'✓' if was[place] else 'x'} {sign.get(place, ' ')} {'✓' if now[place] else 'x'}"
        for place, number in enumerate(scenes.numbers)
    }


def as_text(scene: "ScenesGold", rows: "Sequence[Row]", alpha: float) -> str:
    """The scenario and its emotions, as they are copied."""
    lines = [f"{scene.id}  {scene.subject or ''}".rstrip(), scene.text or "", f"alpha {alpha:g}"]
    lines += [
        f"{row.label}\tlog-odds {row.own:.3f}\tP(yes) {row.posterior:.3f}"
        f"\tmodel {row.before}\tnow {row.now}\tgold {row.gold}"
        for row in rows
    ]
    return "\n".join(lines)
