"""`emotui masked study`: which of two sources coders prefer, without knowing whose word is whose (EXPRESS)."""

from collections.abc import Callable
from typing import Any

import click

from emotui.commands.exchange.written import written_option
from emotui.commands.options import lexicon_options
from emotui.commands.output import as_written, json_option, print_figures, print_json, say, terminal, warn
from emotui.commands.program_options import db_option, look_into, read_only_option
from emotui.formats.rows import literal
from emotui.tables import number_of
from emotui.tasks.masked.lexicon import WordVectors

_coder: Callable[[Any], Any] = click.option(
    "--coder", required=True, help="Whose answers: one order and one set of answers a name."
)


@click.group()
def study() -> None:
    """Blind studies: two sources, where the vectors of their words differ, judged by several coders."""


@study.command("begin")
@click.argument("name")
@click.option("--dataset", default="masked", show_default=True, help="A dataset of masked texts.")
@click.option("--a", "first", default="gold", show_default=True, help="A source: gold, a run, a person, a file.")
@click.option("--b", "second", required=True, help="Another source (emotui sources).")
@click.option("--n", "most", type=click.IntRange(1), help="Texts at most, drawn (default: all that differ).")
@click.option("--seed", type=int, default=0, show_default=True, help="Of drawing and of the coders' orders.")
@click.option("--codes", type=click.Path(), help="Codes of your own: code,applies,about (emotui masked study codes).")
@lexicon_options
@db_option
@json_option
def begin(
    name: str,
    dataset: str,
    first: str,
    second: str,
    most: int | None,
    seed: int,
    codes: str | None,
    by: WordVectors | None,
    db: str | None,
    as_json: bool,
) -> None:
    """Begin a study NAME: coders see this name, so let it not tell the sources."""
    from emotui.workbench.datasets.sets import dataset_named
    from emotui.workbench.masked.study import begin_study
    from emotui.workbench.masked.study_log import read_codes

    book = None if codes is None else read_codes(codes)
    store = look_into(db).store
    made = begin_study(
        store, dataset_named(store, dataset), name, first, second, most=most, seed=seed, codes=book, lexicon=by
    )
    if as_json:
        told = {"study": made.name, "texts": len(made.items), "a": made.a_name, "b": made.b_name}
        print_json(told | {"lexicon": made.lexicon})
        return
    texts = number_of(len(made.items), "text")
    say(f"{literal(name)}: {texts} in which {literal(made.a_name)} and {literal(made.b_name)} differ")
    say("coders answer in the workbench (5, then F5), or on sheets (emotui masked study sheet)")


@study.command("import")
@click.argument("name")
@click.option("--dataset", default="masked", show_default=True, help="The dataset whose texts were judged.")
@click.option(
    "--sheet", "sheets", required=True, multiple=True, metavar="[CODER=]FILE", help="A sheet; again for more."
)
@click.option("--a", "first", default="a", show_default=True, help="What the first source is called, in sheets too.")
@click.option("--b", "second", default="b", show_default=True, help="What the second source is called.")
@click.option("--codes", type=click.Path(), help="The codebook, where it is not the paper's: code,applies,about.")
@db_option
@json_option
def import_(
    name: str,
    dataset: str,
    sheets: tuple[str, ...],
    first: str,
    second: str,
    codes: str | None,
    db: str | None,
    as_json: bool,
) -> None:
    """Keep a study that was done elsewhere as NAME, from the coders' sheets (docs/masked.md).

    Codes that are not in the codebook, or do not go with the verdict, are told and kept apart.
    """
    from emotui.workbench.datasets.sets import dataset_named
    from emotui.workbench.masked.finished_study import import_study
    from emotui.workbench.masked.study_log import read_codes

    named = [(coder, path) if equals else ("", coder) for coder, equals, path in (one.partition("=") for one in sheets)]
    book = None if codes is None else read_codes(codes)
    store = look_into(db).store
    made = import_study(store, dataset_named(store, dataset), name, named, names=(first, second), codes=book, warn=warn)
    if as_json:
        print_json({"study": made.name, "texts": len(made.items)})
    else:
        say(f"{literal(name)}: {number_of(len(made.items), 'text')}; emotui masked study results {literal(name)}")


@study.command("list")
@db_option
@read_only_option
@json_option
def listing(db: str | None, read_only: bool, as_json: bool) -> None:
    """List the studies and how far their coders are."""
    from emotui.workbench.masked.study import progress

    rows = progress(look_into(db, read_only=read_only).store)
    if as_json:
        print_json({"studies": rows})
        return
    for row in rows:
        done = ", ".join(f"{literal(coder)} {n}" for coder, n in row["coders"].items()) or "nobody yet"
        say(f"{literal(row['study'])}: {row['texts']} texts; answered: {done}")
    if not rows:
        say("no study yet: emotui masked study begin NAME --b RUN")


@study.command("sheet")
@click.argument("name")
@_coder
@written_option("--to", required=True, type=click.Path(), help="The sheet to write (.csv).")
@db_option
@json_option
def sheet(name: str, coder: str, to: str, db: str | None, as_json: bool) -> None:
    """Write a coder's sheet: the texts in the coder's order, both words, and room for answers."""
    from emotui.workbench.masked.finished_study import write_sheet
    from emotui.workbench.masked.study import Coding

    coding = Coding(look_into(db).store, name, coder)
    n = write_sheet(coding, to)
    if as_json:
        print_json({"study": name, "coder": coder, "texts": n, "codes": [code.code for code in coding.codes]})
        return
    say(
        f"{literal(to)}: {number_of(n, 'text')}. answer is first, second, both or neither; codes 3,5; "
        "open codes after ;"
    )
    for code in coding.codes:
        say(f"  {literal(code.code)} ({code.applies}): {literal(code.about)}")


@study.command("take")
@click.argument("name")
@click.argument("file", type=click.Path())
@_coder
@db_option
@json_option
def take(name: str, file: str, coder: str, db: str | None, as_json: bool) -> None:
    """Take the answers of a coder's sheet FILE in, all or none."""
    from emotui.workbench.masked.finished_study import take_sheet
    from emotui.workbench.masked.study import Coding

    coding = Coding(look_into(db).store, name, coder)
    n = take_sheet(coding, file)
    told = {"study": name, "coder": coder, "new": n, "answered": len(coding.answered), "texts": len(coding.texts)}
    if as_json:
        print_json(told)
    else:
        say(f"{number_of(n, 'answer')} taken; {literal(coder)} has answered {told['answered']} of {told['texts']}")


@study.command("results")
@click.argument("name")
@db_option
@read_only_option
@json_option
def results(name: str, db: str | None, read_only: bool, as_json: bool) -> None:
    """Majority, unanimity, Fleiss' kappa, and codes by side, with the paper's figures beside."""
    from emotui.workbench.masked.study import results as of_study

    document = of_study(look_into(db, read_only=read_only).store, name)
    if as_json:
        print_json(document)
        return
    paper = document.pop("paper")
    codes, own, stray = document.pop("codes"), document.pop("open"), document.pop("stray")
    unanimous = document.pop("unanimous")
    document["unanimous"] = None if unanimous is None else unanimous["share"]
    majority, totals = document.pop("majority"), document.pop("totals")
    print_figures(literal(name), document)
    _print_majority(majority, paper)
    _print_codes(codes, totals, paper)
    if stray:
        say("codes kept apart: " + ", ".join(f"{literal(code)} {n}" for code, n in stray.items()))
    if own:
        say("open codes: " + ", ".join(f"{literal(code)} {n}" for code, n in own.items()))
    say(f"paper: {paper['cite']}")
    for note in paper["notes"]:
        say(f"- {note}")


@study.command("export")
@click.argument("name")
@written_option("--to", required=True, type=click.Path(), help="The table to write (.csv).")
@db_option
@read_only_option
@json_option
def export(name: str, to: str, db: str | None, read_only: bool, as_json: bool) -> None:
    """Write every coder's answers, saying whose word is whose."""
    from emotui.workbench.masked.finished_study import export_answers

    n = export_answers(look_into(db, read_only=read_only).store, name, to)
    if as_json:
        print_json({"study": name, "answers": n})
    else:
        say(f"{literal(to)}: {number_of(n, 'answer')}")


@study.command("codes")
@click.argument("name", required=False)
@written_option("--to", type=click.Path(), help="Write them there (.csv), to be changed and given to begin --codes.")
@db_option
@read_only_option
@json_option
def codes(name: str | None, to: str | None, db: str | None, read_only: bool, as_json: bool) -> None:
    """The codes of the study NAME; without one the paper's eleven, in emotui's words."""
    import msgspec

    from emotui.workbench.masked.study import study_named
    from emotui.workbench.masked.study_log import express_codes, write_codes

    book = express_codes() if name is None else study_named(look_into(db, read_only=read_only).store, name).codes
    if to is not None:
        write_codes(book, to)
    if as_json:
        print_json({"codes": msgspec.to_builtins(book)})
    elif to is None:
        for code in book:
            say(f"{code.code:>3} {code.applies:8} {code.about}")


def _print_majority(majority: dict[str, Any], paper: dict[str, Any]) -> None:
    from rich.table import Table

    printed = {"a": "sd", "b": "llm", "both": "both", "all_differ": "all_differ"}
    table = Table("majority", "n", "share", "paper † (SD = a, LLM = b)", box=None, pad_edge=False)
    for name, one in majority.items():
        share = "" if one["share"] is None else f"{one['share']:.1%}"
        theirs = paper["majority"].get(printed.get(name, ""), "")
        table.add_row(*map(as_written, (name, str(one["n"]), share, str(theirs))))
    terminal().print(table)
    theirs = paper["majority"]
    say(f"paper: unanimous {theirs['unanimous_share']:.1%}, Fleiss' kappa {theirs['fleiss_kappa']}")


def _print_codes(codes: list[dict[str, Any]], totals: dict[str, int], paper: dict[str, Any]) -> None:
    from rich.table import Table

    rows = {str(row["code"]): row for row in paper["rows"]}
    heads = [f"{name} ({totals[name]})" for name in ("a", "b", "both", "neither")]
    printed_heads = [f"SD/{paper['totals']['sd']} †", f"LLM/{paper['totals']['llm']} †"]
    table = Table("code", *heads, *printed_heads, "about", box=None, pad_edge=False)
    for row in codes:
        cells = [_counted(row["counts"][name], row["shares"][name]) for name in ("a", "b", "both", "neither")]
        printed = rows.get(row["code"]) if row["about"] == rows.get(row["code"], {}).get("about") else None
        theirs = ["" if printed is None else _printed(printed, side, paper["totals"]) for side in ("sd", "llm")]
        table.add_row(*map(as_written, (row["code"], *cells, *theirs, row["about"])))
    terminal().print(table)


def _counted(n: int, share: float | None) -> str:
    return "" if not n else f"{n} {share:.0%}" if share is not None else str(n)


def _printed(row: dict[str, Any], side: str, totals: dict[str, int]) -> str:
    return "" if side not in row else f"{row[side]} {row[side] / totals[side]:.0%}"
