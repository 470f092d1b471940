"""Agreement on labels and numbers of whole texts that people give beside spans."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from emotui.commands.looking.agreement import agreement
from emotui.records import Mark, SpanSample
from emotui.workbench.agreement.looking import looked_at
from emotui.workbench.agreement.panel import kinds_beside, read_panel
from emotui.workbench.agreement.study import study
from emotui.workbench.annotate.answers import SpanMark
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.events import Accept, AddSpan, SetLabels, SetNumber
from emotui.workbench.annotate.scheme import Group, Label, Scale, Scheme
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.workspace import Workspace

SCHEME = Scheme(
    name="both",
    spans=True,
    groups=(
        Group(name="label", of="span", labels=(Label(name="joy"),)),
        Group(name="tone", of="text", labels=(Label(name="good"), Label(name="bad")), required=True),
        Group(name="arousal", of="text", scale=Scale(minimum=1, maximum=9)),
    ),
)

ANN, BEN = "gggbb", "ggbbg"
"""The tone of five texts."""

NUMBERS = ((1.0, 2.0), (5.0, 5.0), (9.0, 7.0), (3.0, 3.0), (2.0, 2.0))
"""The arousal of five texts, by ann and by ben."""


@pytest.fixture
def opened(tmp_path: Path) -> Workspace:
    """Two people mark spans in five texts, and say of each text its tone and its arousal."""
    opened = Workspace.open(tmp_path / "w.duckdb")
    texts = [SpanSample(id=f"t{at}", text=f"a text, number {at}", spans=(Mark(0, 6, "joy"),)) for at in range(5)]
    dataset = add_samples(opened.store, "spans", "fic", texts, "written for a test")
    desk = Desk(opened.store)
    desk.use_scheme(dataset, SCHEME)
    for at, (name, tones) in enumerate((("ann", ANN), ("ben", BEN))):
        work = desk.begin("fic", name)
        for number, tone, arousal in zip(work.order, tones, NUMBERS, strict=True):
            said = SetLabels(("good" if tone == "g" else "bad",)), SetNumber("arousal", arousal[at])
            work.do(number, AddSpan(SpanMark(id=f"{name}-{number}", start=0, end=6, label="joy")), *said, Accept())
        work.publish()
    return opened


def test_labels_of_texts_are_compared_as_those_of_a_label_dataset(opened: Workspace) -> None:
    found = study(opened.store, "fic", kind="labels", resamples=0)
    assert (found.kind, [(one.name, one.n) for one in found.sources]) == ("label", [("ben", 5), ("ann", 5)])
    # Observed 2 of 5 apart; 6 good and 4 bad of ten answers: expected 2 * 6 * 4 / 90. 1 - .4 / (48 / 90) = .25.
    assert found.measured[0].figure.value == pytest.approx(0.25)
    assert study(opened.store, "fic", ["ann", "ben"], kind="labels", resamples=0).measured[0].figure.value is not None


def test_numbers_of_texts_have_alpha_at_the_level_of_their_scale(opened: Workspace) -> None:
    found = study(opened.store, "fic", kind="values", levels=("ordinal", "interval"), resamples=0)
    (names,) = found.by_label.values()
    alphas = {one.name: one.figure.value for one in names}
    # Interval: the observed disagreement is (1 + 4) / 5, the expected one that of ten numbers whose sum is 39 and
    # whose squares sum up to 211.
    assert alphas["krippendorff_alpha_interval"] == pytest.approx(1 - 1.0 / (2 * (10 * 211 - 39**2) / 90))
    assert alphas["krippendorff_alpha_ordinal"] is not None


def test_the_view_of_agreement_has_them_behind_the_spans_and_the_command_tells_of_them(opened: Workspace) -> None:
    dataset = opened.store.datasets.get("fic")
    assert dataset is not None
    assert kinds_beside(opened.store, dataset) == ["labels", "values"]
    tables = {table.key: table for table in looked_at(opened.store, dataset)}
    assert tables["agreement-of-label"].title == "Agreement of ben, ann: labels of texts"
    assert tables["agreement-of-label"].rows[0].cells[0].value == pytest.approx(0.25)
    assert tables["agreement-of-values"].rows[0].label == "arousal: alpha, interval"
    assert read_panel(opened.store, "fic").kind == "spans"
    path = str(opened.store.path)
    opened.close()
    printed = CliRunner().invoke(agreement, ["--db", path, "--dataset", "fic", "--no-gamma"]).output
    assert "people say labels and values of whole texts too: --as labels, --as values" in " ".join(printed.split())


def test_spans_alone_have_nothing_beside(opened: Workspace) -> None:
    texts = [SpanSample(id="t", text="a text", spans=(), annotators={"A": (), "B": (Mark(0, 1, None),)})]
    dataset = add_samples(opened.store, "spans", "alone", texts, "written for a test")
    assert kinds_beside(opened.store, dataset) == []


def test_the_alternative_annotator_test_refuses_a_kind_of_answers_that_it_would_not_go_by(opened: Workspace) -> None:
    path = str(opened.store.path)
    opened.close()
    asked = ["--db", path, "--dataset", "fic", "--as", "labels", "--stand-in", "ann"]
    refused = CliRunner().invoke(agreement, asked).exception
    assert str(refused) == "--as has no say in --stand-in"
