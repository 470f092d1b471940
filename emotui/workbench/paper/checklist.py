"""A draft of the answers to the ACL's checklist for responsible research, as far as the store knows any.

The questions are put in words of this project; the checklist itself is at aclrollingreview.org/responsibleNLPresearch.
"""

from collections.abc import Sequence

from emotui import __version__
from emotui.installing import EXTRAS
from emotui.store.store import Store
from emotui.workbench.paper.material import Told, datasets_of, packages, parameters_of
from emotui.workbench.reports.escaping import markdown
from emotui.workbench.runs.run_file import portable

# What a reader of the folder is told first, and the one command.

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
        people = store.annotators(dataset.dataset)
        kept = {one.run.model for one in told if one.run.source == "person" and one.dataset == dataset}
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
