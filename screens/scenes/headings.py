"""Headings of the Scenes place and what it tells the list, from values to parts and words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from emotui.screens.scenes.charts import alpha_text, track
from emotui.screens.widgets.line import Part
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.records import ScenesGold
    from emotui.workbench.scenes.decoding import Decoded, Redecoding, Row, SceneRun

_TRACK, _LEAST_TRACK = 45, 12
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


def slider(redecoding: "Redecoding", alpha: float, place: int | None, cells: int) -> Sides:
    """Alpha, the prior, what is decoded for, and which fold the scenario is in."""
    from emotui.workbench.scenes.decoding import ABOUT_OBJECTIVES, ALPHAS, nearest

    tuning = redecoding.tuning
    about = [
        Part(f"  {tuning.prior}", "key", "do('prior')"),
        Part(f" s {alpha_text(tuning.smoothing)}", "dim", "do('prior')"),
    ]
    if tuning.scaling != 1.0:
        about.append(Part(f" T {redecoding.temperature:.2f}", "dim", "do('prior')"))
    about.append(Part(f"  {ABOUT_OBJECTIVES[tuning.objective]}", "key", "do('objective')"))
    room = cells - 9 - sum(len(part.text) for part in about)
    fold = "" if place is None else f"fold {redecoding.fold(place) + 1}/{len(redecoding.priors)}"
    words = f"{fold}, fitted without it "
    right = words if len(words) + _LEAST_TRACK < room else f"{fold} "
    left = [
        Part(f" α {alpha_text(alpha):<5}", "strong", "do('alpha')"),
        *track(ALPHAS, nearest(alpha), min(_TRACK, max(room - len(right) - 1, _LEAST_TRACK))),
        *about,
    ]
    return left, [Part(right, "dim")] if fold else []


def tabs(views: Sequence[str], here: str, decoded: "Decoded", cells: int) -> Sides:
    """The views by name, and as far as there is room how many scenarios flip."""
    flips = decoded.flips
    words = f"{len(flips.gains)}▴ {len(flips.losses)}▾ {len(flips.even)}~ "
    names = list(views)
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
