"""Generate: texts with their differences, figures of all models, and the way through the place."""

import threading
from pathlib import Path

from emotui.metrics.metric import Metric
from emotui.metrics.resampling import told_of_t
from emotui.screens.generate.overview import Point, lettered, plotted
from emotui.screens.generate.place import Generate, differing, marked, side_lines
from emotui.screens.generate.tables import (
    agreeing_pairs,
    better,
    called,
    families,
    figure,
    grade,
    graded,
    labels_in_words,
    model_lines,
    number,
    of_one_label,
    on_texts_in_words,
    seen,
    told_of,
    trust_lines,
    value_lines,
    version_lines,
)
from emotui.screens.list_state import NO_RUN
from emotui.screens.widgets.line import Part
from emotui.tasks.generation.tables import _EMOTIONAL, _NEUTRAL, TITLES
from emotui.tasks.generation.task import METRICS
from emotui.tasks.registry import task_named
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.generation.figures import PEOPLE, Estimate, Figures, Model
from emotui.workbench.generation.versions import Version, Versions, Writer
from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import sample_records
from tests.screens.driving import frame, listed, notified, opened, press, screen_text, settle, until
from tests.screens.generate.workspace import workspace


def written(lines: "list[list[Part]]") -> list[str]:
    return ["".join(part.text for part in line) for line in lines]


def test_words_that_differ_stand_in_brackets_after_their_sign_so_that_no_colour_is_needed() -> None:
    before, after = "the view was a real delight", "the view was there"
    gone, new = differing(before, after)
    assert written(marked(before, gone, "−", "gone", 60)) == ["the view was −[a real delight]"]
    assert written(marked(after, new, "+", "new", 60)) == ["the view was +[there]"]
    assert differing(before, "The view was a real delight!") == ([], [])


def test_no_line_of_a_marked_text_is_wider_than_its_cells_but_for_a_word_that_is() -> None:
    text = "one two three four five six seven"
    assert written(marked(text, [(4, 13)], "+", "new", 12)) == ["one +[two", "three] four", "five six", "seven"]


def test_labels_are_told_by_how_often_they_were_given() -> None:
    assert labels_in_words(["joy", "fear", "joy", "anger"]) == "joy 2, anger 1, fear 1"
    assert labels_in_words([]) == "–"
    assert (seen(["joy", "fear"], "joy"), seen([], "joy")) == ("1/2", "–")


def _of_two(help: str) -> Versions:
    """A text with the versions of two writers, and a metric."""
    versions = tuple(
        Version(
            Writer(name, f"{name} (illustration)", 1, 1, "done"),
            "the view was there",
            f"the view was {word} there",
            values={"m": 0.5},
        )
        for name, word in (("ann", "truly"), ("bob", "rather"))
    )
    return Versions(1, "t", "the view", "joy", versions, (Metric("m", (0, 1), True, help),), True)


def test_where_there_is_room_all_writers_texts_stand_side_by_side() -> None:
    found = _of_two("")
    lines = written(side_lines(found, 1, 60))
    assert lines[2].split() == ["ann", "▸bob"]
    assert [line.split("  ")[0] for line in lines[3:]] == ["the view was +[truly] there"]
    assert "the view was +[rather] there" in lines[3]
    assert side_lines(found, 1, 40) == []


def test_what_a_metric_is_stands_in_full_beside_its_values_or_under_all_of_them() -> None:
    found = _of_two("EAnS R1, cosine of one text and of quite another one (section 5.4)")
    there = written(value_lines(found, 0, 58, 4))
    assert [line[-25:].strip() for line in there][1:] == ["cosine of one text and of", "quite another one"]
    under = written(value_lines(found, 0, 58))
    assert "cosine" not in "".join(under[:2])
    assert [line.split(maxsplit=1) for line in under[4:]] == [["m", "cosine of one text and of quite another one"]]


def test_figures_have_three_digits() -> None:
    words, leak = (next(one for one in METRICS if one.name == name) for name in ("words", "leak"))
    assert (figure(words, 23.0), figure(leak, 1.0)) == ("23", "yes"), "a count is a count"
    assert [number(value) for value in (0.8123, -0.05, 1.0, 13.44, None, float("nan"))] == [
        ".812",
        "-.050",
        "1.00",
        "13.4",
        "–",
        "–",
    ]


def test_the_ground_of_a_figure_is_the_stronger_the_better_it_is_and_a_shade_says_so_without_colour() -> None:
    up, down = Metric("a", (0, 1), True, ""), Metric("b", (0, 1), False, "")
    assert [grade(up, value, 0, 1) for value in (0.0, 0.3, 0.5, 0.8, 1.0)] == [0, 1, 2, 3, 4]
    assert [grade(down, value, 0, 1) for value in (0.0, 0.3, 0.5, 0.8, 1.0)] == [4, 3, 2, 1, 0]
    assert graded(up, 1.0, 0, 1, 12, signs=True) == Part("   1.00 ██  ", "heat-4")
    assert graded(up, None, 0, 1, 12, signs=True) == Part("      –     ", "dim")


def test_a_point_stands_where_its_figures_are_with_a_cross_as_long_as_its_intervals() -> None:
    points = [
        Point("low", 0.0, 0.0),
        Point("high", 1.0, 1.0, (0.8, 1.0), None),
        Point("paper", 0.5, 0.5, published=True),
    ]
    lines = written(plotted(points, "metric", 60, 13))
    assert [letter for letter, _ in lettered(points)] == ["A", "B", "a"]
    row = {letter: next(at for at, line in enumerate(lines[1:-3]) if letter in line[7:]) for letter in "ABa"}
    column = {letter: lines[1 + row[letter]].index(letter, 7) for letter in "ABa"}
    assert row["B"] < row["a"] < row["A"]
    assert column["A"] < column["a"] < column["B"]
    assert "├" in lines[1 + row["B"]][: column["B"]]
    assert all(len(line) <= 60 for line in lines)
    assert [line.split("┤")[0].strip() for line in lines[1:-3] if "┤" in line[:7]] == [
        "1.00",
        ".75",
        ".50",
        ".25",
        ".00",
    ]
    assert lines[-2].split() == ["metric", ".00", ".50", "1.00"], "round values under the other axis too"
    assert lines[-1].strip() == "metric"


def test_where_intervals_of_two_writers_cross_the_crossing_is_drawn() -> None:
    points = [Point("one", 0.2, 0.5, (0.1, 0.9), None), Point("two", 0.6, 0.8, None, (0.2, 0.9))]
    lines = written(plotted(points, "metric", 60, 13))
    assert any("┼" in line for line in lines)
    assert "┊" in "".join(lines), "the second has lines of its own"


def test_intervals_that_would_cover_each_other_are_left_out_and_that_is_told() -> None:
    near = [Point("one", 0.5, 0.5, (0.3, 0.7), (0.1, 0.2)), Point("two", 0.6, 0.5, (0.4, 0.8), None)]
    lines = written(plotted([*near, Point("three", 0.5, 0.9, (0.3, 0.7), None)], "metric", 120, 13, told=True))
    assert "metric; A B: intervals too near" in lines[-1]
    assert [sum("├" in line for line in lines[1:-3]), sum("┬" in line for line in lines[1:-3])] == [1, 0]


def test_what_raters_see_never_touches_what_stands_beside_it() -> None:
    labels = ("surprise", "surprise", "surprise", "disappointment", "contentment")
    people = Version(Writer("cleo", "cleo", 1, 1, "done"), "a", "b", human=labels, human_neutral=labels)
    for cells in (60, 76, 90, 120):
        head, row = written(version_lines((people,), 0, cells, "surprise"))
        assert "…" not in head + row
        assert max(len(head), len(row)) <= cells
        at = row.index("0/5")
        assert row[at - 2 : at] == "  "
        assert head[at - 2 : at] == "  ", "heads stand over their columns"
        assert head[at:].strip() in ("neutral", "seen in the neutral", "seen in the neutral version")
    assert "surprise 3 +2" in written(version_lines((people,), 0, 60, "surprise"))[1]


def test_a_metric_has_the_name_that_results_give_it() -> None:
    titles = {column.key: column.short or column.title for column in (*_EMOTIONAL, *_NEUTRAL)}
    assert {one.title for one in PEOPLE} == set(titles.values()) - {"Accuracy", "Ties", "Texts"}
    assert [called(metric).split()[0] for metric in METRICS] == [metric.title.split()[0] for metric in METRICS]
    emotional = next(metric for metric in METRICS if metric.name == "eps_emotional")
    assert told_of(emotional) == "emotional EPS: an open classifier calls the text emotional (section 5.1)."


async def test_a_way_through_the_place(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb"), (120, 40)) as pilot:
        await press(pilot, "6")
        place = frame(pilot).query_one(Generate)
        assert listed(pilot)[0] == "t-1"
        text = screen_text(pilot)
        assert "−[honestly]" in text
        assert " R3cos " in text.splitlines()[2], "a list that is in the file's order has no arrow"
        assert "+[there]" in text
        assert "joy 4, neutral 1" in text
        assert "illustration" not in text
        assert place.version is not None
        first = place.version.writer.name
        await press(pilot, "down" if first == "ann" else "up")
        assert place.version.writer.name != first
        assert ("+[rather something else]" if first == "ann" else "+[truly something else]") in screen_text(pilot)
        await press(pilot, "o")
        assert "not in original" in screen_text(pilot)
        await press(pilot, "v")
        text = screen_text(pilot)
        assert "Human F1: F1 of the raters' majority label" in text
        ends = [line.partition("│")[2].strip() for line in text.splitlines()[-4:-1]]
        assert ends[-1] == "In brackets are 95% intervals, by BCa bootstrap over texts.", "a note a line"
        assert ends[-2] == "A text of which two labels are the most frequent counts as no label."
        await press(pilot, "v")
        assert place.overview.rows.picked is not None
        assert "Text by text: rho" in screen_text(pilot)
        await press(pilot, "P")
        assert "† are the paper's models, over its own texts." in screen_text(pilot)
        await press(pilot, "V", ">")
        assert "disgust" in screen_text(pilot)
        await press(pilot, "percent_sign", "down", "enter")
        assert "Agreement: " in screen_text(pilot)
        await press(pilot, ">")
        assert "Human F1" in screen_text(pilot)
        await press(pilot, "V", "j")
        assert place.found is not None
        assert place.found.id == "t-2"


async def test_while_writers_come_their_number_is_said_not_to_be_the_last(tmp_path: Path) -> None:
    over = threading.Event()
    async with opened(workspace(tmp_path / "w.duckdb"), (80, 24)) as pilot:
        await press(pilot, "6")
        frame(pilot).session.begin("sample texts", lambda on_progress: over.wait(30), over.set, brings=True)
        await press(pilot, "v")
        await until(pilot, "so far, more on their way")
        assert "on their way" in frame(pilot).query_one(Generate)._version_lines([], 0, 80)[0][0].text
        over.set()
        await settle(pilot, work=True)
        assert "more on their way" not in screen_text(pilot)


async def test_that_writers_came_is_not_told_where_their_versions_stand_already(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb"), (120, 35)) as pilot:
        await press(pilot, "6")
        session = frame(pilot).session
        assert session.overview.dataset is not None
        session._looked_at[session.overview.dataset.dataset] = NO_RUN  # as it is while no writer is there
        session._stay(session.overview)
        await pilot.pause()
        assert not [one for one in notified(pilot) if "first answers" in one]


async def test_the_place_brings_in_its_texts_when_it_is_first_opened_and_says_that_they_are_illustration(
    tmp_path: Path,
) -> None:
    made = Workspace.open(tmp_path / "w.duckdb")
    made.set_setting("first_start", "done")
    async with opened(made, (80, 24)) as pilot:
        await press(pilot, "6")
        await settle(pilot, work=True)
        await settle(pilot)
        text = screen_text(pilot)
        assert "g-001" in text
        assert "illustration" in text


async def test_results_keep_the_figure_beside_the_list_before_the_number_of_the_chart(tmp_path: Path) -> None:
    source = workspace(tmp_path / "w.duckdb")
    add_samples(source.store, "spans", "a longer name", sample_records()[:2], "elsewhere")
    async with opened(source, (76, 24)) as pilot:
        await press(pilot, "6", "7")
        await settle(pilot)
        assert screen_text(pilot).splitlines()[1].startswith(" trains  R3cos ")


async def test_results_name_the_metrics_as_the_place_does_and_say_where_raters_agree(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb"), (120, 35)) as pilot:
        await press(pilot, "6", "7", "V")
        text = " ".join(screen_text(pilot).split())
        assert "whose answers agreement cannot compare: it takes labels" in text
        assert "goes back to “Models by metrics”, whose column Agreement is that of the raters" in text
    own = {metric.name: metric.title for metric in task_named("generation").metrics}
    assert {name: title for name, title in TITLES.items() if title != own.get(name)} == {}


def _with_p(*titles: str) -> Figures:
    metrics = tuple(Metric(title, (0, 1), True, "") for title in titles)
    return Figures((), metrics, (), {title: {"p": 0.5, "p_holm": 1.0, "n": 10} for title in titles}, False)


def test_correlations_fit_their_columns_and_which_metrics_are_corrected_together_is_said() -> None:
    figures = _with_p("r1_m", "ers", "words", "leak")
    assert families(figures) == [["r1_m", "ers"], ["words", "leak"]]
    for cells in (73, 80):
        lines = written(trust_lines(figures, figures.metrics, 0, cells))
        assert len({len(line) for line in lines}) == 1
        assert len(lines[0]) <= cells
        assert lines[0].endswith(" n")


def test_a_metric_of_which_neither_end_is_better_has_no_arrow() -> None:
    assert [better(metric) for metric in METRICS if metric.name in ("words", "leak")] == [" ", "↓"]
    assert better(Metric("m", (0, 1), False, "")) == "↓"


def test_nothing_is_best_of_a_metric_of_which_neither_end_is_better() -> None:
    metrics = tuple(metric for metric in METRICS if metric.name in ("words", "leak"))
    models = tuple(
        Model(Writer(name, name, 1, 1, "done"), 1, 0, {one.name: Estimate(value) for one in metrics}, {})
        for name, value in (("ada", 0.2), ("ben", 0.1))
    )
    lines = model_lines(Figures(models, metrics, (), {}, False), metrics, 0, 80)
    bold = [[part.text.strip() for part in line if part.kind == "strong"] for line in lines[1:]]
    assert dict(zip((metric.name for metric in metrics), bold, strict=True)) == {"words": [], "leak": [".100"]}


def _by_three(**values: tuple[float, float, float]) -> Figures:
    """Three writers, a figure of each a metric; trust has three points."""
    metrics = tuple(metric for metric in METRICS if metric.name in values)
    models = tuple(
        Model(
            Writer(name, name, 1, 1, "done"),
            1,
            0,
            {key: Estimate(three[at], 0.1, 0.9) for key, three in values.items()},
            {},
        )
        for at, name in enumerate(("ada", "ben", "cleo"))
    )
    return Figures(tuple(models), metrics, (), {one.name: {"n": 3, "pearson": 1.0} for one in metrics}, False)


def test_of_three_writers_no_correlation_is_told_but_the_pairs_that_a_metric_orders_as_people_do() -> None:
    figures = _by_three(human_f1=(0.9, 0.8, 0.6), ers=(0.9, 0.8, 0.6), r3_m=(1.0, 2.0, 0.5), leak=(0.0, 0.0, 0.2))
    pairs = {metric.name: agreeing_pairs(figures, metric) for metric in figures.metrics}
    assert pairs == {"ers": (3, 3, 0), "r3_m": (1, 3, 0), "leak": (2, 2, 1)}, "lower is better for distance and leak"
    head, *rows = written(trust_lines(figures, figures.metrics, 0, 74))
    assert head.split() == ["metric", "pairs", "as", "people", "what", "it", "is"]
    assert not any("1.00" in row for row in rows)
    assert "1 of 3  ■··" in next(row for row in rows if "R3L1" in row)
    assert "2 of 2  ■■=" in next(row for row in rows if "leak" in row), "the third pair has no order"


def test_intervals_stand_beside_three_writers_figures_and_letters_have_a_word_behind_them() -> None:
    figures = _by_three(ers=(0.9, 0.8, 0.6), r3_m=(1.0, 2.0, 0.5))
    _, *rows = written(model_lines(figures, figures.metrics, 0, 75))
    assert all(row.count("[.10, .90]") == 3 for row in rows)
    assert [called(metric) for metric in figures.metrics] == ["R3L1 orig-emot", "ERS target hit"]
    wide = written(model_lines(figures, figures.metrics, 0, 110))
    assert wide[0].endswith("what it is")
    assert wide[1].endswith("Manhattan distance")
    assert wide[0].index("ada") + 3 == wide[1].index("1.00") + 4, "a name ends where its figures do"


async def test_annotate_says_whose_texts_they_are_and_has_their_labels_or_says_that_it_has_not(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb"), (120, 35)) as pilot:
        await press(pilot, "6", "2")
        assert "from Generate" in screen_text(pilot)
        assert " J joy" in screen_text(pilot).partition(" label ")[2]
        assert "not this list's labels" not in screen_text(pilot)
    chosen = workspace(tmp_path / "chosen.duckdb")
    chosen.annotating().keep_scheme(1, "spans")
    async with opened(chosen, (120, 35)) as pilot:
        await press(pilot, "6", "2")
        assert "not this list's labels: it has" in screen_text(pilot)


async def test_checks_are_asked_for_in_sentences_and_an_illustration_is_a_note(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb"), (80, 24)) as pilot:
        await press(pilot, "6", "f4")
        said = screen_text(pilot)
        assert "for each text; 0: none" in said
        assert "of these may fail 0" in said
        assert "In the paper: 28/277 with emotional versions, 10/84 with neutral ones." in said


def test_that_figures_are_still_counted_is_told_whole_in_any_width() -> None:
    for lines in (model_lines(None, (), 0, 40), trust_lines(None, (), 0, 40)):
        told = ["".join(part.text for part in line) for line in lines]
        assert all(len(line) <= 40 for line in told)
        assert " ".join(told).endswith("once that is done.")


def test_an_interval_over_few_writers_is_told_in_a_sentence() -> None:
    metric = next(one for one in METRICS if one.name == "words")
    found = {"spearman": 0.1, "ci": (-0.1, 0.3), "within": None, "n": 210, "why": told_of_t(3, grouped=True)}
    told = on_texts_in_words(metric, found)
    assert told.endswith("210 texts. The interval is Student's t: 3 writers are fewer than 20.")
    assert on_texts_in_words(metric, found | {"why": "odd"}).endswith("210 texts (odd).")


def test_where_nearly_all_texts_look_neutral_agreement_beyond_chance_is_told_to_say_little() -> None:
    alpha = Metric("human_neutral_alpha", (None, 1), True, "alpha", "neutral alpha")
    known = _by_three(human_neutral=(1.0, 0.97, 0.6), human_neutral_alpha=(-0.013, 0.0, 0.35))
    told = of_one_label(known, alpha)
    assert told.startswith("Near 0 says little of ")
    assert len(told.split(" of ")[1].split(":")[0].split(", ")) == 2
    assert not of_one_label(_by_three(human_neutral=(0.9, 0.5, 0.1), human_neutral_alpha=(0.1, 0.2, 0.3)), alpha)
    assert not of_one_label(known, next(one for one in METRICS if one.name == "words"))
