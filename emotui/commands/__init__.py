"""The command line: a thin face over `emotui.workbench`. A command's module is imported only when it is called."""

import errno
import io
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import click

from emotui import __version__
from emotui.collector import collect_seldom
from emotui.commands.program_options import annotator_option, db_option, read_only_option, takes_program_options
from emotui.controls import CONTROLS
from emotui.errors import BadInput, EmotuiError

COMMANDS = {
    "agreement": (
        "emotui.commands.looking.agreement:agreement",
        "How far raters or sources agree, and on which texts not.",
    ),
    "annotate": ("emotui.commands.annotate:annotate", "Who annotates what, by which scheme; progress; the log."),
    "batch read": ("emotui.commands.serving.batch:read", "Keep what another engine answered as a run."),
    "batch write": (
        "emotui.commands.serving.batch:write",
        "Write a run's questions for another engine (vLLM, OpenAI).",
    ),
    "bench": ("emotui.commands.models:bench", "Measure a model: speed, load time, memory."),
    "compare": ("emotui.commands.looking.statistics:compare", "Compare two sets of per-sample scores, paired by id."),
    "datasets": ("emotui.commands.sets.datasets:datasets", "List the datasets in the store."),
    "decode": ("emotui.commands.decode:decode", "Re-decode emotion vectors jointly under an Ising prior."),
    "datasets join": ("emotui.commands.sets.datasets:join", "Make one dataset of two with the same texts."),
    "delete": ("emotui.commands.sets.datasets:delete", "Put a dataset or run into the trash."),
    "doctor": ("emotui.commands.looking.probe:doctor", "Say what works here, what is broken, and the remedy."),
    "export": ("emotui.commands.exchange.importing:export", "Write texts with gold and answers to a file."),
    "import": ("emotui.commands.exchange.importing:import_", "Bring samples from files into the store."),
    "import predictions": (
        "emotui.commands.sets.sources:predictions",
        "Keep predictions made elsewhere as a source of a dataset.",
    ),
    "keys": ("emotui.commands.browse:keys", "Print a card of keys."),
    "lens": ("emotui.commands.looking.why:lens", "What each layer of a model knows, beside controls."),
    "lens gradients": (
        "emotui.commands.looking.inside:gradients",
        "Which words an answer follows, by gradients, beside spans and removal.",
    ),
    "lens push": (
        "emotui.commands.looking.inside:push",
        "What a model answers while a label's direction is added inside it.",
    ),
    "lexical": ("emotui.commands.looking.statistics:lexical", "Explicit, implicit and misleading texts, by EmoLex."),
    "make-gold": ("emotui.commands.sets.sources:make_gold", "Make what a source says the gold of a dataset."),
    "map-labels": (
        "emotui.commands.sets.sources:map_labels",
        "What sources call the labels of a dataset's spans: shown, guessed, kept.",
    ),
    "masked": (
        "emotui.commands.masked:masked",
        "Masked words: sets of raw posts, examples, errors, differences.",
    ),
    "measure": ("emotui.commands.sets.datasets:measure", "Ask further models about versions of texts (generation)."),
    "merge": ("emotui.commands.sets.datasets:merge", "Bring the runs of other stores into one, shards as one run."),
    "models": ("emotui.commands.models:models", "List the models at hand."),
    "notes": ("emotui.commands.looking.notes:notes", "Notes on samples, and the codes that grow out of them."),
    "paper": (
        "emotui.commands.paper:paper",
        "The folder of a paper: tables, figures, methods, data.",
    ),
    "predict": ("emotui.commands.predict:predict", "Ask a model about every record of a file, without the store."),
    "probe": ("emotui.commands.looking.probe:probe", "Run one text through everything a model can do."),
    "project": ("emotui.commands.annotate:project", "Annotate on several machines: a folder with everybody's log."),
    "ratings": ("emotui.commands.ratings:ratings", "Bring a crowd platform's ratings into generation records."),
    "ratings kept": ("emotui.commands.ratings:kept", "What ratings made in the workbench come to; write them."),
    "ratings rate": ("emotui.commands.ratings:rate", "Rate versions blind, one text at a time."),
    "ratings subset": ("emotui.commands.ratings:subset", "Choose which texts to have rated."),
    "rename": ("emotui.commands.sets.datasets:rename", "Give a dataset or run another name."),
    "rephrasings": ("emotui.commands.rephrasings:rephrasings", "Rephrased test sets: 1R to 4R, statistics, splits."),
    "replace-gold": (
        "emotui.commands.sets.datasets:replace_gold",
        "Replace a dataset's gold; answers stay and are scored anew.",
    ),
    "report": ("emotui.commands.results:report", "Write a paper's tables with your runs, or a figure."),
    "reproduce": (
        "emotui.commands.paper:reproduce",
        "The command that makes a run, and whether it makes the same again.",
    ),
    "rescore": ("emotui.commands.run:rescore", "Parse and score a run's kept outputs again."),
    "restore": ("emotui.commands.sets.datasets:restore", "Bring a dataset or run back from the trash."),
    "results": ("emotui.commands.results:results", "The tables of the SEER paper from the store."),
    "run": ("emotui.commands.run:run", "Run a task with a model over a dataset, into the store."),
    "runs": ("emotui.commands.run:runs", "List the runs in the store."),
    "runs pack": ("emotui.commands.paper:pack", "Write a run as one file."),
    "runs unpack": ("emotui.commands.paper:unpack", "Keep the run of a file, under its own id."),
    "scale": ("emotui.commands.models:scale", "What many texts cost: hours of a model, sizes of files, step by step."),
    "score": ("emotui.commands.score:score", "Score a file of predictions against a file of gold records."),
    "serve": ("emotui.commands.browse:serve", "Show the workbench in a browser on this machine."),
    "slices": (
        "emotui.commands.looking.slices:slices",
        "Parts of a dataset: named filters, figures in each, rules that are found.",
    ),
    "turns": (
        "emotui.commands.looking.turns:turns",
        "Changes along conversations or people, and a prior over turns.",
    ),
    "upgrade": ("emotui.commands.sets.sources:upgrade", "Bring the store of an older emotui up to date."),
    "snapshot": ("emotui.commands.sets.sources:snapshot", "Copy the store into a file that any program may hold open."),
    "sources": ("emotui.commands.sets.sources:sources", "List whoever says something about a dataset."),
    "sql": ("emotui.commands.sets.sources:sql", "Ask the store a SELECT of your own."),
    "steady": ("emotui.commands.looking.why:steady", "Which answers flip when the same is asked in other words."),
    "thresholds": (
        "emotui.commands.score:thresholds",
        "Choose a threshold for each label, for predictions elsewhere.",
    ),
    "train": ("emotui.commands.training:train", "Train a classifier of your own."),
    "view": ("emotui.commands.browse:view", "Browse files without importing anything."),
    "words": ("emotui.commands.looking.why:words", "Which words move which emotion, over all texts."),
}
"""Name to where it is, and its line in the help (so that help imports none of them)."""


GROUPS = {
    "Look": ("view", "results", "report", "sql", "slices", "notes", "keys", "serve"),
    "Ask a model": (
        "run",
        "predict",
        "probe",
        "models",
        "bench",
        "scale",
        "measure",
        "batch write",
        "batch read",
        "train",
    ),
    "Score and compare": ("score", "compare", "agreement", "turns", "decode", "thresholds", "rescore", "lexical"),
    "Ask why": ("words", "steady", "lens", "lens gradients", "lens push"),
    "Annotate and rate": (
        "annotate",
        "project",
        "ratings",
        "ratings kept",
        "ratings rate",
        "ratings subset",
        "make-gold",
    ),
    "Build a test set": ("rephrasings", "masked"),
    "Bring in": ("import", "import predictions", "replace-gold", "map-labels", "merge", "runs unpack", "datasets join"),
    "Take out": ("export", "paper", "reproduce", "runs pack", "snapshot"),
    "Keep house": ("datasets", "runs", "sources", "rename", "delete", "restore", "upgrade", "doctor"),
}
"""The commands by what one wants, as the help shows them."""


_LONGEST_NAME, _LONGEST_WHY = 200, 200
"""Letters of a file's name in a message: a longer one is told by how it begins."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return takes_program_options(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A command may have a name of two words; what is no command but a file or folder is opened to be imported."""
        if (pair := " ".join(args[:2])) in COMMANDS:
            return pair, self.get_command(ctx, pair), args[2:]
        longer = [name for name in sorted(COMMANDS) if args[0] not in COMMANDS and name.startswith(f"{args[0]} ")]
        if longer:
            ctx.fail(f"'{args[0]}' is the first of two words: {', '.join(longer)}")
        if args[0] not in COMMANDS and Path(args[0]).exists():
            from emotui.commands.browse import open_with_file

            return args[0], takes_program_options(open_with_file), args
        if args[0] not in COMMANDS and Path(args[0]).suffix:
            new = f"; emotui --db {args[0]} makes a workspace there" if args[0].endswith(".duckdb") else ""
            raise BadInput(f"{args[0]}: there is no such file{new}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), COMMANDS[name][1]) for name in names])


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="emotui")
@db_option
@read_only_option
@annotator_option("Who annotates and writes; named, one begins in Annotate (default: your user name).")
@click.pass_context
def cli(ctx: click.Context, db: str | None, read_only: bool, annotator: str | None) -> None:
    """See what a language model thinks people feel, and why it is wrong.

    Without a command, opens the workbench; with a FILE, such as emotui my.csv, shows there how it would be imported,
    and with a workspace, such as emotui my.duckdb, opens that.
    The options below mean the same before a command and after it.
    """
    if ctx.invoked_subcommand is None:
        from emotui.commands.browse import open_workbench

        open_workbench(db, read_only=read_only, annotator=annotator)


def _end_of_output(error: OSError) -> NoReturn:
    """One line for what the system refuses, such as to print on a full disk, and the end of the program."""
    from emotui.commands.output import warn

    name = error.filename if isinstance(error.filename, str) else "the output"
    name = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
    if error.errno != errno.EPIPE:  # who reads it has seen enough
        warn(f"{name}: {(error.strerror or str(error)).lower()}")
    if not isinstance(error.filename, str):
        # What could not be printed is dropped: the interpreter would try once more on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(2 if error.errno == errno.ENAMETOOLONG else 1)


def main() -> None:
    """Run the command line. Exit status: 0 done, 1 the work failed or was interrupted, 2 bad usage or bad input."""
    collect_seldom()
    if os.environ.get("TEXTUAL_DRIVER"):  # in a browser: it ends with its server, while it starts too
        from emotui.commands.output import end_with_server

        end_with_server()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what the terminal's encoding lacks, or no text has
    try:
        try:
            # click's own way prints usage errors, which hold what was typed, as they are.
            status = cli.main(prog_name="emotui", standalone_mode=False)
        finally:
            if sys.stdout is not None and not sys.stdout.closed:
                sys.stdout.flush()
    except click.ClickException as error:
        from emotui.formats.rows import literal

        # What was typed stands in it, and stays on its line.
        vars(error)["message"] = literal(error.message)
        usage = io.StringIO()
        error.show(file=usage)
        _refuse(usage.getvalue().rstrip("\n"), error.exit_code)
    except click.Abort:
        _refuse("Aborted!", 1)
    except OSError as error:
        _end_of_output(error)
    except EmotuiError as error:
        from emotui.formats.rows import literal

        problems = error.problems if isinstance(error, BadInput) else (str(error),)
        _refuse("\n".join(map(literal, problems)), 2 if isinstance(error, BadInput) else 1)
    except Exception as error:
        from emotui.store.refusals import is_interrupt, is_no_text

        if is_interrupt(error):
            _refuse("\nAborted!", 1)
        if is_no_text(error):
            given = next((word for word in sys.argv[1:] if CONTROLS.search(word)), "a name or a text")
            _refuse(f"{given}: not UTF-8, which every name and text in a workspace has to be", 2)
        from msgspec import MsgspecError

        from emotui.store.duckdb_core import Error
        from emotui.workbench.failure_log import traceback_of, written_down

        if isinstance(error, MsgspecError | Error):
            from emotui.formats.rows import literal

            why = literal(f"{type(error).__name__}: {error}")[:_LONGEST_WHY]
            _refuse(f"something that is kept cannot be read ({why}); traceback: {written_down(error)}", 1)
        _refuse(traceback_of(error), 1)
    sys.exit(status or 0)


def _refuse(lines: str, status: int) -> NoReturn:
    """Lines on standard error, and the end of the program."""
    from emotui.commands.output import say

    say(lines, err=True)
    sys.exit(status)
