"""What a reader of the folder is told first, and the one command."""

from collections.abc import Sequence

from emotui import __version__
from emotui.installing import EXTRAS
from emotui.workbench.paper.material import Told
from emotui.workbench.reports.escaping import markdown

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
