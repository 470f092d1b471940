"""`emotui paper`: the folder that goes with a paper, from what the store keeps of runs."""

import hashlib
import json
import secrets
import shutil
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from emotui import __version__
from emotui.backends.host import Cancelled, IsCancelled
from emotui.errors import BadInput
from emotui.formats import check_not_over
from emotui.formats.rows import literal
from emotui.formats.written import refusal
from emotui.installing import EXTRAS
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.workbench.annotate.log import settled_among
from emotui.workbench.datasets.label_maps import label_map
from emotui.workbench.datasets.samples import experiment_of, has_texts, is_sample_data
from emotui.workbench.paper.material import Told, datasets_of, packages, parameters_of, prompts_of, told_of
from emotui.workbench.paper.metadata import croissant, evaluation
from emotui.workbench.paper.methods import file_name, methods, prompt_file, run_name
from emotui.workbench.paper.recipe import FILE, Naming, Recipe, RecipeDataset, RecipeRun, Stated, limit_of
from emotui.workbench.progress import OnProgress
from emotui.workbench.reports import figures
from emotui.workbench.reports.comma_separated import comma_separated, sizes
from emotui.workbench.reports.escaping import markdown
from emotui.workbench.reports.report import Judged, judged, report_text, sections_of, unwatched
from emotui.workbench.reports.values import Section, SizeOf, labels_of
from emotui.workbench.results.service import Results, never
from emotui.workbench.runs.packing import packed_run
from emotui.workbench.runs.run_file import ENDING, portable, without_machine
from emotui.workbench.runs.states import with_state

_ABOUT = f"Written by emotui {__version__}."


def write_paper(
    store: Store,
    results: Results,
    runs: Sequence[str],
    folder: str,
    *,
    sim: bool = True,
    published: bool = False,
    texts: bool = True,
    stated: Stated | None = None,
    ids: Mapping[str, str] | None = None,
    on_progress: OnProgress = unwatched,
    cancelled: IsCancelled = never,
) -> dict[str, Any]:
    """Write the folder, whole or not at all.

    Args:
        runs: ids of runs of any tasks, or the beginnings of ids; tables have them in this order.
        folder: a new one, or an empty one.
        sim: whether annotators get their Sim, which loads the embedded model.
        published: whether the papers' own rows stand beside.
        texts: whether samples and prompts go along.
        stated: for the metadata.
        ids: what runs are to be called in the folder, where that is not their id.

    Returns:
        `to`, `runs`, `files` (their names), and `figures`: whether they could be drawn.

    Raises:
        BadInput: a run that is not there, is going on or is scored under former gold, or a folder that holds something.
        Cancelled: on the way; nothing is written.
    """
    chosen = [with_state(store.runs.get(name)) for name in dict.fromkeys(store.runs.get(name).run for name in runs)]
    if not chosen:
        raise BadInput("a paper needs a run: emotui paper RUN... --to DIR")
    target = Path(folder)
    _check_new(target, store)
    made = _Making(store, results, chosen, ids or {}, texts, stated or Stated())
    made.read(sim, published, on_progress, cancelled)
    try:
        beside = target.absolute().with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part")
        beside.mkdir()
        try:
            made.write(beside, sim, published, cancelled)
            if target.exists():
                target.rmdir()
            beside.rename(target)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise refusal(folder, error) from None
    return {"to": folder, "runs": [one.called for one in made.told], "files": made.files, "figures": made.drawn}


def _check_new(target: Path, store: Store) -> None:
    check_not_over(target, store.path)
    if target.exists() and not target.is_dir():
        raise BadInput(f"{literal(str(target))}: is a file; name a new folder")
    if target.is_dir() and any(target.iterdir()):
        raise BadInput(f"{literal(str(target))}: holds something; name a new folder")


class _Making:
    """A folder in the making."""

    def __init__(
        self, store: Store, results: Results, runs: list[Run], ids: Mapping[str, str], texts: bool, stated: Stated
    ) -> None:
        self.store, self.results, self.runs = store, results, runs
        self.texts, self.stated = texts, stated
        self.naming = Naming(runs, ids)
        self.files: list[str] = []
        self.drawn = False

    def read(self, sim: bool, published: bool, on_progress: OnProgress, cancelled: IsCancelled) -> None:
        """All that is counted."""
        found = sections_of(
            *(self.store, self.results, self.runs),
            sim=sim,
            published=published,
            alone=True,
            on_progress=on_progress,
            cancelled=cancelled,
        )
        size_of, ids = sizes(self.store, found), {self.naming.run(run.run): run.run for run in self.runs}
        tested = judged(self.store, found)
        self.sections = [
            Section(section.title, tuple(self.naming.table(table) for table in section.tables), section.dataset)
            for section in found
        ]
        self.tested: Judged = {(at, self.naming.text(key)): best for (at, key), best in tested.items()}

        def of_called(key: str, run: str) -> int | None:
            return size_of(key, ids.get(run, run))

        self.size_of: SizeOf = of_called
        self.told = told_of(self.store, self.runs, self.naming)

    def write(self, folder: Path, sim: bool, published: bool, cancelled: IsCancelled) -> None:
        """Every file."""
        self.folder = folder
        self._tables()
        self._figures(cancelled)
        data = self._data()
        runs = [self._run(one) for one in self.told]
        self._put("methods.md", methods(self.told, self.sections, list(self.tested.values()), prompts=self.texts))
        self._put("checklist.md", checklist(self.store, self.told))
        hashes = {name: _sha256(folder / name) for name in self.files if name.startswith(("tables/", "figures/"))}
        recipe = Recipe(
            emotui=__version__,
            sim=sim,
            published=published,
            texts=self.texts,
            datasets=data,
            runs=runs,
            tables={name: own for name, own in hashes.items() if name.startswith("tables/")},
            figures={name: own for name, own in hashes.items() if name.startswith("figures/")},
            drawn_by=version("matplotlib") if self.drawn else "",
            stated=self.stated,
        )
        self._put(FILE, msgspec.json.format(msgspec.json.encode(recipe)) + b"\n")
        self._put("again.sh", AGAIN)
        (folder / "again.sh").chmod(0o755)
        self._put("README.md", readme(self.told, self.drawn, self.texts))
        if cancelled():
            raise Cancelled

    def _put(self, name: str, content: str | bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.files.append(name)

    def _json(self, name: str, document: object) -> None:
        self._put(name, json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n")

    def _tables(self) -> None:
        def text(ending: str, sections: Sequence[Section], at: int = 0) -> str:
            tested = {(0, key): best for (place, key), best in self.tested.items() if place == at}
            chosen = self.tested if len(sections) == len(self.sections) else tested
            return report_text(ending, self.runs, sections, chosen, self.size_of, _ABOUT, ())

        for ending in (".md", ".html"):
            self._put(f"tables/tables{ending}", text(ending, self.sections))
        self._put("tables/tables.csv", comma_separated(self.sections, self.tested, self.size_of))
        for (at, place), label in labels_of(self.sections).items():
            section = self.sections[at]
            alone = Section(section.title, (section.tables[place],), section.dataset)
            self._put(f"tables/{label}.tex", text(".tex", [alone], at))

    def _figures(self, cancelled: IsCancelled) -> None:
        if not figures.at_hand():
            return
        self.drawn = True
        for (at, place), label in labels_of(self.sections).items():
            table = self.sections[at].tables[place]
            if not figures.can_draw(table):
                continue
            for ending in figures.ENDINGS:
                if cancelled():
                    raise Cancelled
                self._put(f"figures/{label}{ending}", figures.drawn(table, ending))

    def _data(self) -> list[RecipeDataset]:
        found = []
        for number, dataset in enumerate(datasets_of(self.told), start=1):
            experiment = experiment_of(dataset)
            file = ""
            if self.texts and experiment is None:
                stem = f"{number}-{file_name(dataset.name)}"
                name = f"{stem}.jsonl"
                content = b"".join(record + b"\n" for _, record in self.store.samples.of_dataset(dataset.dataset))
                file = f"data/{name}"
                self._put(file, content)
                told = msgspec.structs.asdict(self.stated)
                told.pop("organisation")
                self._json(f"data/{stem}.croissant.json", croissant(dataset, name, content, **told))
            found.append(
                RecipeDataset(
                    name=dataset.name,
                    task=dataset.task,
                    fingerprint=dataset.fingerprint,
                    file=file,
                    source=dataset.source if is_sample_data(dataset) or not has_texts(dataset) else "",
                    experiment=experiment,
                    label_maps=self._label_maps(dataset),
                )
            )
        return found

    def _label_maps(self, dataset: Dataset) -> dict[str, dict[str, str]]:
        """What is kept of what sources call labels; for all of them under no name."""
        sources = dict.fromkeys(one.run.model for one in self.told if one.dataset == dataset)
        kept = {"": label_map(self.store, dataset)} | {name: label_map(self.store, dataset, name) for name in sources}
        return {name: mapping for name, mapping in kept.items() if mapping}

    def _run(self, one: Told) -> RecipeRun:
        name = run_name(one.called)
        file = f"runs/{name}{ENDING}"
        self._put(file, packed_run(self.store, one.run, texts=False, called=one.called))
        self._json(
            f"every_eval_ever/{name}.json",
            evaluation(self.store, one.run, one.dataset, one.called, self.stated.organisation),
        )
        if self.texts and one.prompts:
            lines = [json.dumps(line, ensure_ascii=False) for line in prompts_of(self.store, one.run)]
            self._put(f"prompts/{prompt_file(one.called)}", "".join(f"{line}\n" for line in lines))
        return RecipeRun(
            run=one.called,
            dataset=one.dataset.name,
            model=portable(one.run.model) if one.is_model else one.run.model,
            by_model=one.is_model,
            identity=one.run.identity,
            file=file,
            limit=limit_of(one.run, one.dataset),
            config=without_machine(one.run.config),
        )


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# What a reader of the folder is told first, and a draft of the answers to the ACL's checklist for responsible research.
# Its questions are in words of this project; the checklist itself is at aclrollingreview.org/responsibleNLPresearch.

AGAIN = """\
#!/bin/sh
# Asks the models again in a store of its own, makes this folder anew beside, and says which tables are the same.
# sh again.sh [DIR] [further options of `emotui paper`, such as --model OLD=NEW]
here=$(cd "$(dirname "$0")" && pwd)
to=${1:-"$here-again"}
[ $# -gt 0 ] && shift
exec emotui paper --again "$here" --to "$to" "$@"
"""


def readme(told: Sequence[Told], drawn: bool, texts: bool) -> str:
    """README.md."""
    runs = ", ".join(markdown(one.called) for one in told)
    rows = [
        ("`tables/*.tex`", "each table, to include: `\\input{tables/NAME}`, `\\ref{tab:NAME}`"),
        ("`tables/tables.html`, `.md`, `.csv`", "all of them, as a page, a note and a line a figure"),
        *([("`figures/`", "SVG and PNG")] if drawn else []),
        ("`methods.md`", "what was run how, conventions, versions, hardware, time, energy, commands"),
        ("`checklist.md`", "a draft of the ACL's checklist for responsible research; what is yours is marked"),
        *([("`prompts/`", "every prompt as it was sent")] if texts and any(one.prompts for one in told) else []),
        *([("`data/`", "the samples, with Croissant metadata; TO STATE marks what only you know")] if texts else []),
        ("`runs/`", "each run as one file (`emotui runs unpack`)"),
        ("`every_eval_ever/`", "results in the schema of Every Eval Ever"),
        ("`paper.json`, `again.sh`", "how all of this is made again"),
    ]
    lines = [
        "# What goes with the paper",
        "",
        f"Written by emotui {__version__} from the runs {runs}.",
        "",
        "| what | holds |",
        "|---|---|",
        *(f"| {what} | {holds} |" for what, holds in rows),
        "",
        "`sh again.sh` asks the models again, in a store of its own, and makes the folder anew beside this one.",
        "Models that answer alike give the same tables, byte for byte; it says which are not.",
    ]
    if not drawn:
        lines += ["", f"There are no figures: `pip install '{EXTRAS['figures'][0]}'` brings what draws them."]
    if not texts:
        lines += ["", "The samples are left out: `again.sh DIR --db STORE` needs a store that has them."]
    return "\n".join(lines) + "\n"


YOURS = "**Yours to answer.**"

_Line = tuple[str, str, str]
"""The item, what it asks, the draft."""


def checklist(store: Store, told: Sequence[Told]) -> str:
    """The draft, in Markdown."""
    lines = [
        "# Responsible research: a draft",
        "",
        "What the store knows is filled in; check each line. The rest is marked.",
    ]
    for heading, items in (
        ("A. For every submission", _always()),
        ("B. Data, models and software that were used or made", _artifacts(store, told)),
        ("C. Computational experiments", _experiments(told)),
        ("D. People who annotated", _people(store, told)),
        ("E. Assistants in research and writing", [("E1", "Were AI assistants used, and for what?", YOURS)]),
    ):
        lines += ["", f"## {heading}", ""]
        lines += [f"- **{item}** {question} {draft}" for item, question, draft in items]
    return "\n".join(lines) + "\n"


def _always() -> list[_Line]:
    return [
        (
            "A1",
            "Where are limitations discussed?",
            f"{YOURS} The tables say n and intervals.",
        ),
        ("A2", "Where are risks discussed?", YOURS),
    ]


def _artifacts(store: Store, told: Sequence[Told]) -> list[_Line]:
    datasets = datasets_of(told)
    names = ", ".join(markdown(one.name) for one in datasets)
    models = ", ".join(dict.fromkeys(markdown(portable(one.run.model)) for one in told if one.is_model)) or "none"
    sizes = "; ".join(
        f"{markdown(one.name)}: {one.n:,} sample{'s' * (one.n != 1)}, gold version {one.gold}" for one in datasets
    )
    return [
        (
            "B1",
            "Are the makers cited?",
            f"Cite each: {names}; models: {models}; emotui {__version__}.",
        ),
        ("B2", "Under which licences?", f"emotui: Apache-2.0. {YOURS} The store knows no licence of data and models."),
        ("B3", "Is the use what they are meant for?", f"Evaluation. {YOURS}"),
        ("B4", "Do texts name or offend people?", f"{YOURS} Nothing was removed or checked here."),
        (
            "B5",
            "Is it documented what the data holds?",
            "`data/*.croissant.json`; TO STATE marks what is missing.",
        ),
        (
            "B6",
            "How much data is there?",
            f"{sizes}. All are for evaluation, unless a run's note says otherwise.",
        ),
    ]


def _experiments(told: Sequence[Told]) -> list[_Line]:
    own = [one for one in told if one.is_model]
    seconds = sum(one.measured.seconds if one.measured else one.seconds for one in own)
    settings = "; ".join(
        f"{markdown(one.called)}: {markdown(one.config.way or 'asked in one way')}, seed {one.config.seed},"
        f" {one.config.repeats} repeat{'s' * (one.config.repeats != 1)}"
        for one in own
    )
    versions = ", ".join(f"{name} {version}" for name, version in packages().items())
    return [
        (
            "C1",
            "How large are the models, how long did it take, and on what?",
            f"{_sizes(own) or 'No model was run.'} {len(own)} run{'s' * (len(own) != 1)},"
            f" {seconds / 3600:.3g} hours in all; hardware and"
            " energy: `methods.md`.",
        ),
        (
            "C2",
            "How was it set up?",
            f"{settings or 'no model was run'}. What was chosen on these samples, tables say.",
        ),
        (
            "C3",
            "How sure are the figures?",
            "Each table says n, how its intervals are computed and what was tested."
            + (" ± is the standard deviation over repeats." if any(one.config.repeats > 1 for one in own) else ""),
        ),
        ("C4", "Which packages, in which versions?", f"emotui {__version__}, {versions}."),
    ]


def _sizes(own: Sequence[Told]) -> str:
    """Parameters of each model, as `methods.md` says them."""
    cards = {markdown(portable(one.run.model)): one.card for one in own}
    said = [
        f"{name}: {size} parameters." if (size := parameters_of(card)) else f"{name}: {YOURS} Parameters not recorded."
        for name, card in cards.items()
    ]
    return " ".join(said)


def _people(store: Store, told: Sequence[Told]) -> list[_Line]:
    found = []
    for dataset in datasets_of(told):
        people = store.samples.annotators(dataset.dataset)
        here = [one.run for one in told if one.run.source == "person" and one.dataset == dataset]
        settled = settled_among(store, dataset, here)
        kept = {run.model for run in here if run.run not in settled}
        n = len({name for name, _ in people} | kept)
        if n:
            found.append(f"{markdown(dataset.name)}: {n} annotator{'s' * (n != 1)}")
    if not found:
        return [("D", "Who annotated?", f"The store holds nobody's annotations beside gold. {YOURS}")]
    return [
        ("D1", "What were they told?", f"{'; '.join(found)}. {YOURS} (`emotui annotate scheme`)"),
        ("D2", "How were they found and paid?", YOURS),
        ("D3", "Did they agree to this use?", YOURS),
        ("D4", "Did a board look at it?", YOURS),
        ("D5", "Who are they?", f"{YOURS} The store has names only."),
    ]
