"""Results: SEER's tables, bars and transitions, from what the store has kept. Nothing is asked or scored again.

Only annotators have no stored scores: theirs are made here, once a dataset, with the embedded model for Sim.
"""

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from emotui.backends.base import OnStep
from emotui.backends.host import Cancelled, IsCancelled, ModelProcess
from emotui.errors import BadInput, EmotuiError, ModelError
from emotui.metrics.transitions import row_shares
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tables import Bars, ResultsTable, Transitions
from emotui.tasks.registry import SPANS, task_named
from emotui.workbench.datasets.samples import experiment_of, has_texts, is_sample_data
from emotui.workbench.masked.lexicons import told_of_lexicons
from emotui.workbench.results.baselines import BaselineFigures, Coverage, best_baselines, coverages, of_enough
from emotui.workbench.results.run_tables import prompting_tables, run_tables, told_of_gold, with_people
from emotui.workbench.results.span_figures import (
    AnnotatorFigures,
    RunFigures,
    annotator_figures,
    count_transitions,
    groups_of_samples,
    run_figures,
    titles_of,
)
from emotui.workbench.results.span_tables import Material, asking, bars_of, task_tables
from emotui.workbench.runs.run import EMBEDDING
from emotui.workbench.runs.scores import Embedder, unreadable
from emotui.workbench.runs.states import with_state
from emotui.workbench.task_words import metrics_of, words_of
from emotui.workbench.texts import runs_of

if TYPE_CHECKING:
    from emotui.tasks.parts import Lexicon

Answer = TypeVar("Answer")

BY = ("emotion", "valence")
PASSAGES = "task-2"


def untold(step: str, so_far: int, n: int) -> None:
    """Nobody wants to know."""


def never() -> bool:
    """Nobody wants it cancelled."""
    return False


class Results:
    """Made by `Workspace.results()`. Every method may be called from any thread, and may take seconds the first time.

    What was counted is kept for as long as the run has no new output or score. Every method takes `cancelled`, which is
    asked every thousand samples or so; then it raises `Cancelled`, and nothing is lost. `on_step` is told as often.
    """

    def __init__(self, store: Store, process: Callable[[str], ModelProcess]) -> None:
        """`process` gives the process of a model; asked for the embedded one when annotators need Sim."""
        self._store, self._process = store, process
        self._kept: dict[Hashable, tuple[Hashable, Any]] = {}
        self._lock = threading.Lock()

    @property
    def store(self) -> Store:
        """Where the runs are."""
        return self._store

    def dataset_of(self, run: str) -> str | None:
        """The name of the dataset of a run, None where it is gone."""
        found = self._store.datasets.get(self._store.runs.get(run).dataset)
        return None if found is None else found.name

    def datasets(self) -> list[Dataset]:
        """Those of the spans task."""
        return [dataset for dataset in self._store.datasets.all() if dataset.task == SPANS]

    def tables(
        self,
        dataset: int | str,
        runs: Sequence[str] | None = None,
        *,
        sim: bool = True,
        baselines: bool | None = None,
        published: bool | None = False,
        among: Sequence[str] | None = None,
        lexicon: "Lexicon | None" = None,
        cancelled: IsCancelled = never,
        on_step: OnStep = untold,
    ) -> tuple[ResultsTable, ...]:
        """The paper's tables of own runs and annotators; of other tasks, those of the task; of a dataset that several
        tasks were asked of those of each, its own task's first.

        For a dataset of the main tasks: `task-1`, `errors-task-1`, `labels-task-1`, `cot-task-1`, the same of `task-2`
        (each where it has such samples), and `asking`. Where there are runs of prompting experiments, or the dataset is
        one: `experiment-0`, `experiments-retrieve`, `experiments-highlight`, `asking-experiments`.

        Args:
            runs: ids, of this dataset or of experiments; None: of each model and setting the newest that is done, or
                the newest at all.
            sim: whether annotators get theirs, which loads the embedded model the first time.
            baselines: True: all baselines of the task stand under the runs, in every table that has their figures; the
                samples are scored for it the first time. None: of spans the best alone, of other tasks where their own
                tables have some. False: as None, but of spans none.
            among: the runs over other datasets by which a task may choose what it must not choose here; None: any.
            lexicon: what masked words are compared by, whatever scores are kept; None: that of the first run's scores.
            published: whether the paper's rows, which are of other samples, stand beside; without them a table may have
                no row, and is left out. None: tables from which both can be made by `ResultsTable.shown`.

        What others wrote into the store about a run, and no task can read, costs that run: a note names it.

        Raises:
            BadInput: no such dataset; a run is of another dataset; a lexicon is given for a task without words; of no
                run asked for can be read what the store has.
        """
        made: list[ResultsTable] = []
        for found, named in self._by_task(dataset, runs):
            asked = partial(
                self._tables,
                found,
                sim=sim,
                baselines=baselines,
                published=published,
                among=among,
                lexicon=lexicon,
                cancelled=cancelled,
                on_step=on_step,
            )
            there = {table.key for table in made}
            made += [
                _told_apart(table, found.task) if table.key in there else table
                for table in self._readable(found, named, asked)
            ]
        return with_people(made, self._store, self._there(dataset))

    def _by_task(self, dataset: int | str, runs: Sequence[str] | None) -> list[tuple[Dataset, Sequence[str] | None]]:
        """A dataset as each task reads it that these runs (None: any over it) answer, with the runs of each.

        Its own task comes first. Where nothing was asked of it, it is read as it came.
        """
        found = self._there(dataset)
        over = {run.run: run.task for run in self._store.runs.all(found.dataset) if runs is None or run.run in runs}
        asked = list(dict.fromkeys(over.values())) or [found.task]
        if len(asked) == 1:
            return [(found.read_as(asked[0]), runs)]
        asked = sorted(filter(_is_known, asked), key=lambda task: task != found.task)
        if runs is None:
            return [(found.read_as(task), None) for task in asked]
        return [(found.read_as(task), [run for run in runs if over.get(run, asked[0]) == task]) for task in asked]

    def _readable(
        self,
        found: Dataset,
        runs: Sequence[str] | None,
        asked: Callable[[Sequence[str] | None], tuple[ResultsTable, ...]],
    ) -> tuple[ResultsTable, ...]:
        """The tables of these runs, without those of which what is kept cannot be read: a note names them."""
        try:
            return asked(runs)
        except (EmotuiError, Cancelled):
            raise
        except Exception:
            there = runs_of(self._store, found) if runs is None else [self._store.runs.get(name) for name in runs]
            broken = {run.run: why for run in there if (why := unreadable(self._store, run))}
            if not broken:
                raise
        told = tuple(
            f"run {run} is left out, because what is kept of it cannot be read ({why}): emotui rescore {run} may"
            " make it anew"
            for run, why in broken.items()
        )
        read = [run for run in there if run.run not in broken]
        names = [run.run for run in (_newest_each([with_state(run) for run in read]) if runs is None else read)]
        tables = asked(names) if names else ()
        if not tables:
            raise BadInput(*told)
        return (replace(tables[0], notes=(*tables[0].notes, *told)), *tables[1:])

    def _tables(
        self,
        found: Dataset,
        runs: Sequence[str] | None,
        *,
        sim: bool,
        baselines: bool | None,
        published: bool | None,
        among: Sequence[str] | None,
        lexicon: "Lexicon | None",
        cancelled: IsCancelled,
        on_step: OnStep,
    ) -> tuple[ResultsTable, ...]:
        if lexicon is not None:
            task_named(found.task).with_lexicon(lexicon)
        if found.task != SPANS:
            made = _shown(
                self._run_tables(found, runs, among, lexicon, cancelled, on_step, baselines=baselines is True),
                published,
            )
            made += self._known(found, runs)
            made += self._by_slice(found, runs)
            made += self._spread(found, runs, cancelled)
            return told_of_gold([table for table in made if table.rows], self._store, found)
        own, experimental = self._chosen(found, runs, cancelled, on_step)
        tables: list[ResultsTable] = []
        if experiment_of(found) is None:
            people = self.annotators(found.dataset, sim=sim, cancelled=cancelled, on_step=on_step)
            each = baselines is True
            over = coverages(own) if each or runs is not None else of_enough(coverages(own))
            least = [] if baselines is False else self._baselines(found, over, cancelled, on_step, each=each)
            tables += task_tables(self._material(found, own, people, least, each_baseline=each))
            tables += self._evidence(found, own, cancelled, named=runs is not None)
            tables += self._spread(found, [one.run.run for one in own], cancelled)
        if experimental or experiment_of(found) is not None:
            tables += [*prompting_tables(experimental), asking(experimental, "asking-experiments")]
        shown = _shown(tables, published) + self._by_slice(found, runs)
        return told_of_gold([table for table in shown if table.rows], self._store, found)

    def means(self, dataset: int | str, runs: Sequence[str] | None = None) -> tuple[ResultsTable, ...]:
        """The means of the same runs, without intervals, baselines and annotators: quick, until `tables` come.

        Raises:
            BadInput: as `tables`.
        """
        from emotui.workbench.results.run_tables import means

        with self._store.together():
            found = self._dataset(dataset, runs, of_spans=False)
            if runs is None:
                chosen = _newest_each([with_state(run) for run in runs_of(self._store, found)])
            else:
                chosen = [run for run in map(self._store.runs.get, runs) if run.dataset == found.dataset]
            titles = titles_of(self._store, found) if found.task == SPANS else {}
            mark = self._store.runs.revisions([run.run for run in chosen]), found.fingerprint
            names = tuple(run.run for run in chosen)
            return self._once(
                ("means", found.dataset, names),
                mark,
                lambda: with_people(
                    told_of_lexicons(means(self._store, found.dataset, chosen, titles), self._store, found, chosen),
                    self._store,
                    found,
                ),
            )

    def _by_slice(self, dataset: Dataset, names: Sequence[str] | None) -> list[ResultsTable]:
        """These runs, or the newest of each model and setting, by saved slice."""
        if not self._store.slices.all(dataset.dataset):
            return []
        from emotui.workbench.slices.slicing import slice_table

        kept = [with_state(run) for run in runs_of(self._store, dataset)]
        runs = _newest_each(kept) if names is None else [run for run in kept if run.run in names]
        made = slice_table(self._store, dataset, runs, metrics_of(self._store, dataset.dataset, dataset.task)[0])
        return list(told_of_lexicons(made, self._store, dataset, runs))

    def _known(self, dataset: Dataset, names: Sequence[str] | None) -> list[ResultsTable]:
        """What a layer of a model knew and its answers did not say, of these runs, or the newest of each."""
        kept = [with_state(run) for run in runs_of(self._store, dataset)]
        runs = _newest_each(kept) if names is None else [run for run in kept if run.run in names]
        if not self._store.settings.beginning("lens/"):
            return []
        from emotui.workbench.why.lens import known_table

        made = known_table(self._store, dataset, runs)
        return [] if made is None else [made]

    def _evidence(
        self,
        dataset: Dataset,
        own: Sequence[RunFigures],
        cancelled: IsCancelled,
        *,
        named: bool,
    ) -> list[ResultsTable]:
        """Evidence taken away, beside the F1 of these runs, and of people unless runs are named."""
        over = [run for run in self._store.runs.all(dataset.dataset) if run.task == "evidence"]
        if not over:
            return []
        from emotui.workbench.compare.evidence import beside_f1

        sources = {one.run.run for one in own} if named else None
        marks = self._store.runs.revisions([run.run for run in self._store.runs.all(dataset.dataset)])
        made = self._once(
            ("evidence", dataset.dataset, None if sources is None else frozenset(sources)),
            (marks, tuple(run.state for run in over), dataset.fingerprint, dataset.gold),
            lambda: beside_f1(self._store, dataset, sources, cancelled),
        )
        return [] if made is None else [made]

    def spread(
        self, dataset: int | str, runs: Sequence[str] | None = None, *, cancelled: IsCancelled = never
    ) -> tuple[ResultsTable, ...]:
        """Sources against the spread of people: `spread`, `spread-annotators`, `reliability-RUN`.

        Of labels, words for masks and spans (by words, sentences and labels); of numbers those of each name. None where
        no text has two annotators. Args: runs: as of `tables`.

        Raises:
            BadInput: no such dataset.
        """
        return self._spread(self._dataset(dataset, runs, of_spans=False), runs, cancelled)

    def _spread(self, found: Dataset, runs: Sequence[str] | None, cancelled: IsCancelled) -> tuple[ResultsTable, ...]:
        from emotui.workbench.results.spread.people import people_tables
        from emotui.workbench.runs.scores import groups_of

        with self._store.together():
            kept = runs_of(self._store, found)
            if runs is None:
                chosen = [run for run in _newest_each([with_state(run) for run in kept]) if run.done]
            else:
                chosen = [self._store.runs.get(name) for name in runs]
        people = [run.run for run in kept if run.source == "person"]

        def count() -> tuple[ResultsTable, ...]:
            groups = groups_of(self._store, found.dataset)
            shared = None if groups is None else groups[1]
            return people_tables(self._store, found, chosen, shared, cancelled)

        names = tuple(run.run for run in chosen)
        mark = self._store.runs.revisions([*names, *people]), found.fingerprint
        return self._once(("spread", found.dataset, found.task, names), mark, count)

    def newest(self, dataset: int | str) -> list[str]:
        """The ids of the runs that `tables` takes where none are named.

        Raises:
            BadInput: no such dataset, or no run over it.
        """
        named: list[str] = []
        for found, _ in self._by_task(dataset, None):
            runs = _newest_each([with_state(run) for run in runs_of(self._store, found)])
            named += [run.run for run in runs if run.done]
        if not named:
            found = self._there(dataset)
            raise BadInput(f"there is no run over {found.name} yet: emotui run {found.task} --dataset {found.name}")
        return named

    def bars(
        self,
        dataset: int | str,
        runs: Sequence[str] | None = None,
        *,
        part: str = "task-1",
        by: str = "emotion",
        figure: str = "f1",
        cancelled: IsCancelled = never,
    ) -> Bars:
        """A metric by emotion or valence for each run and the annotators' average (Figures 3 to 6).

        Args:
            part: `task-1` or `task-2`.
            figure: the name of the metric; of passages only `f1` and `sim` have values by label.

        Raises:
            BadInput: as `tables`; no such `by`, part or metric.
        """
        found = self._dataset(dataset)
        metrics = metrics_of(self._store, found.dataset, found.task)
        named = {metric.name: metric for metric in metrics}
        if by not in BY or figure not in named or part not in ("task-1", "task-2"):
            raise BadInput(f"there are no bars of {figure} by {by} in {part}")
        own, _ = self._chosen(found, runs, cancelled)
        people = self.annotators(found.dataset, sim=figure == "sim", cancelled=cancelled)
        material = self._material(found, own, people, ())
        if part not in material.titles:
            raise BadInput(f"{found.name} has no samples of {part}")
        return bars_of(material, part, by, named[figure])

    def transitions(self, dataset: int | str, by: str = "emotion", *, cancelled: IsCancelled = never) -> Transitions:
        """Emotion or valence transitions between adjacent sentences of the gold passages (appendix C).

        Raises:
            BadInput: as `tables`; `by` is neither.
        """
        if by not in BY:
            raise BadInput(f"there are no transitions by {by}: use one of {', '.join(BY)}")
        found = self._dataset(dataset)

        def count() -> Transitions:
            counts = count_transitions(self._store, found, by, cancelled)
            labels, matrix, pairs = counts.labels, counts.matrix(), counts.pairs
            return Transitions(
                by=by,
                labels=labels,
                counts=tuple(tuple(row) for row in matrix),
                shares=tuple(tuple(count / pairs if pairs else None for count in row) for row in matrix),
                row_shares=tuple(tuple(row) for row in row_shares(matrix)),
                samples=tuple(
                    tuple(tuple(counts.seen.get((one, other), (0, []))[1]) for other in labels) for one in labels
                ),
                pairs=pairs,
                unlabelled=counts.unlabelled,
                of=self.titles(found.dataset).get(PASSAGES, found.name),
            )

        return self._once(("transitions", found.dataset, by), (found.fingerprint, found.name), count)

    def agreement(
        self, dataset: int | str, runs: Sequence[str] = (), *, cancelled: IsCancelled = never
    ) -> tuple[ResultsTable, ...]:
        """How far sources agree: people, and beside them these runs; of samples of any task.

        Raises:
            BadInput: no such dataset.
        """
        from emotui.workbench.agreement.looking import looked_at, standing

        found = self._dataset(dataset, of_spans=False)
        mark = standing(self._store, found, runs)
        make = partial(looked_at, self._store, found, runs, cancelled=cancelled)
        return self._once(("agreement", found.dataset, tuple(runs)), mark, make)

    def annotators(
        self, dataset: int | str, *, sim: bool = True, cancelled: IsCancelled = never, on_step: OnStep = untold
    ) -> dict[str, AnnotatorFigures]:
        """Annotators as if they were models, by part; empty where nobody annotated anything.

        Where the embedded model cannot be loaded their Sim is undefined.
        """
        found = self._dataset(dataset)
        if not has_texts(found):
            return {}

        def score(sim: bool) -> dict[str, AnnotatorFigures]:
            embed = Embedder(self._process(EMBEDDING), cancelled) if sim else None
            return annotator_figures(self._store, found, embed, cancelled, partial(on_step, "annotators"))

        with_sim = ("people", found.dataset, True)
        if not sim and with_sim not in self._kept:
            return self._once(("people", found.dataset, False), found.fingerprint, lambda: score(False))
        try:
            return self._once(with_sim, found.fingerprint, lambda: score(True))
        except ModelError:
            return self._once(("people", found.dataset, False), found.fingerprint, lambda: score(False))

    def figures(self, run: str, *, cancelled: IsCancelled = never) -> RunFigures:
        """The figures of one run of the spans task, of all that is scored so far."""
        return self._figures([self._store.runs.get(run)], cancelled)[0]

    def _dataset(self, dataset: int | str, runs: Sequence[str] | None = None, *, of_spans: bool = True) -> Dataset:
        """A dataset as these runs over it read it; without any as it came, or where nobody asked that, as was asked."""
        found = self._there(dataset)
        over = [run for run in self._store.runs.all(found.dataset) if runs is None or run.run in runs]
        asked = list(dict.fromkeys(run.task for run in over))
        if of_spans and SPANS in asked:
            return found.read_as(SPANS)
        if runs is not None and len(asked) > 1:
            raise BadInput(f"these runs are of {' and '.join(asked)}: name runs of one task")
        if asked and found.task not in asked and not (of_spans and found.task == SPANS):
            found = found.read_as(asked[0])
        if of_spans and found.task != SPANS:
            raise BadInput(f"the dataset {found.name!r} is one of the {found.task} task: results are of spans")
        return found

    def _there(self, dataset: int | str) -> Dataset:
        found = self._store.datasets.get(dataset)
        if found is None:
            there = ", ".join(one.name for one in self.datasets()) or "none"
            raise BadInput(f"the store has no dataset {dataset!r} (there: {there})")
        return found

    def _run_tables(
        self,
        dataset: Dataset,
        names: Sequence[str] | None,
        among: Sequence[str] | None,
        lexicon: "Lexicon | None",
        cancelled: IsCancelled,
        on_step: OnStep,
        *,
        baselines: bool,
    ) -> tuple[ResultsTable, ...]:
        """Of a task other than spans: its own tables about these runs, or the newest of each model and setting."""
        if names is None:
            runs = _newest_each([with_state(run) for run in runs_of(self._store, dataset)])
            runs = [run for run in runs if run.done]
        else:
            runs = [with_state(self._store.runs.get(name)) for name in names]
        for run in runs:
            if run.dataset != dataset.dataset:
                raise BadInput(f"run {run.run} is not one over the dataset {dataset.name!r}")
        asked = {(run.model, run.config.get("way")) for run in runs}
        others = [
            run
            for run in _newest_each(
                [with_state(run) for run in self._store.runs.all() if among is None or run.run in among]
            )
            if run.task == dataset.task
            and run.dataset != dataset.dataset
            and run.state == "done"
            and (run.model, run.config.get("way")) in asked
        ]
        every = [*runs, *others]
        marks = self._store.runs.revisions([run.run for run in every])
        n = sum(run.done for run in every)
        told = partial(_further, on_step, 0, n)
        # Versions of texts are rated after they were made, which changes none of the runs.
        said_since = self._store.marker() if dataset.task == "generation" else None
        return self._once(
            (
                "run tables",
                dataset.dataset,
                tuple(run.run for run in runs),
                among if among is None else tuple(among),
                "" if lexicon is None else lexicon.mark,
                dataset.task,
                baselines,
            ),
            (marks, tuple((run.run, run.state) for run in every), dataset.name, dataset.gold, said_since),
            lambda: run_tables(self._store, dataset, runs, others, cancelled, told, lexicon, baselines=baselines),
        )

    def titles(self, dataset: int | str) -> dict[str, str]:
        """What the samples of `task-1` (texts) and `task-2` (passages) are called, where a dataset has such."""
        found = self._dataset(dataset)
        mark = found.fingerprint, found.name
        return self._once(("titles", found.dataset), mark, lambda: titles_of(self._store, found))

    def _material(
        self,
        dataset: Dataset,
        runs: Sequence[RunFigures],
        people: Mapping[str, AnnotatorFigures],
        baselines: Sequence[BaselineFigures],
        *,
        each_baseline: bool = False,
    ) -> Material:
        with self._store.together():
            metrics, titles = metrics_of(self._store, dataset.dataset, dataset.task), self.titles(dataset.dataset)
        return Material(runs, people, titles, metrics, baselines, is_sample_data(dataset), each_baseline)

    def _baselines(
        self, dataset: Dataset, covered: Sequence[Coverage], cancelled: IsCancelled, on_step: OnStep, *, each: bool
    ) -> list[BaselineFigures]:
        if not covered or not has_texts(dataset):
            return []
        told = partial(on_step, "baselines")
        make = partial(best_baselines, self._store, dataset, covered, cancelled, told, self._groups(dataset), each=each)
        return self._once(("baselines", dataset.dataset, each), (dataset.fingerprint, tuple(covered)), make)

    def _groups(self, dataset: Dataset) -> dict[int, int] | None:
        make = partial(groups_of_samples, self._store, dataset.dataset)
        return self._once(("groups", dataset.dataset), dataset.fingerprint, make)

    def _chosen(
        self, dataset: Dataset, names: Sequence[str] | None, cancelled: IsCancelled, on_step: OnStep = untold
    ) -> tuple[list[RunFigures], list[RunFigures]]:
        """Figures of the runs over the dataset, and of those over prompting experiments; newest first."""
        with self._store.together():
            experiments = {one.dataset for one in self.datasets() if experiment_of(one) is not None}
            if names is None:
                there = {*experiments, dataset.dataset}
                runs = [with_state(run) for run in self._store.runs.all() if run.dataset in there and run.task == SPANS]
            else:
                runs = [with_state(self._store.runs.get(name)) for name in names]
        for run in runs:
            if run.dataset not in experiments and run.dataset != dataset.dataset:
                raise BadInput(f"run {run.run} is not one over the dataset {dataset.name!r}")
        if names is None:
            runs = _newest_each(runs)
        read = self._figures(runs, cancelled, on_step)
        figures = [one for one in read if one.scored or one.asking["questions"].value]
        own = [one for one in figures if one.run.dataset == dataset.dataset and dataset.dataset not in experiments]
        return own, [one for one in figures if one.run.dataset in experiments]

    def _figures(self, runs: Sequence[Run], cancelled: IsCancelled, on_step: OnStep = untold) -> list[RunFigures]:
        with self._store.together():
            marks = self._store.runs.revisions([run.run for run in runs])
            golds = {one.dataset: one.gold for one in self._store.datasets.all()}
        n = sum(run.done for run in runs)
        found, before = [], 0
        for run in runs:
            on_step("answers", before, n)
            count = partial(_further, on_step, before, n)
            make = partial(run_figures, self._store, run, cancelled, count)
            mark = marks.get(run.run), run.state, run.n, golds.get(run.dataset)
            found.append(self._once(("run", run.run), mark, make))
            before += run.done
        return found

    def _once(self, key: Hashable, mark: Hashable, make: Callable[[], Answer]) -> Answer:
        """What was made under this key, while its mark is the same."""
        with self._lock:
            held = self._kept.get(key)
        if held is not None and held[0] == mark:
            answer: Answer = held[1]
            return answer
        answer = make()
        with self._lock:
            self._kept[key] = (mark, answer)
        return answer


def _further(on_step: OnStep, before: int, n: int, so_far: int) -> None:
    on_step("answers", min(before + so_far, n), n)


def _is_known(task: str) -> bool:
    """Whether a task is here; that of a package which is not is told of where it alone was asked."""
    try:
        task_named(task)
    except BadInput:
        return False
    return True


def _told_apart(table: ResultsTable, task: str) -> ResultsTable:
    """A table that there is of another task too."""
    return replace(table, key=f"{table.key}-{task}", title=f"{table.title}: {words_of(task).title}")


def _shown(tables: Sequence[ResultsTable], published: bool | None) -> list[ResultsTable]:
    return list(tables) if published is None else [table.shown(published=published) for table in tables]


def _newest_each(runs: Sequence[Run]) -> list[Run]:
    """Of each model and setting over each dataset: the newest that is done, else the newest that has anything."""
    chosen: dict[Hashable, Run] = {}
    for run in runs:
        options: Any = run.config.get("options") or {}
        # Whose spans a run over the evidence takes away is its setting too.
        key = run.dataset, run.model, run.config.get("way", ""), options.get("spans")
        held = chosen.get(key)
        if held is None or _rank(run) > _rank(held):
            chosen[key] = run
    return [run for run in runs if run in chosen.values()]


def _rank(run: Run) -> tuple[bool, bool]:
    return run.state == "done", run.done > 0
