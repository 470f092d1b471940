"""`emotui masked questions`, `lexicon` and `supplement`: words that people tie to ten dimensions, and lexicons."""

import click

from emotui.commands.exchange.written import written_option
from emotui.commands.options import lexicon_options
from emotui.commands.output import json_option, print_figures, print_json, say
from emotui.commands.program_options import db_option, look_into, read_only_option
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.tasks.masked.lexicon import BUILT_IN, WordVectors, supplement_against


@click.command()
@click.option("--words", required=True, type=click.Path(), help="A word a line, or word,near,other,other,other.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the checks' words and their order.")
@written_option(
    "--to", required=True, type=click.Path(), help="The file of records to write, for emotui import values."
)
@json_option
def questions(words: str, seed: int, to: str, as_json: bool) -> None:
    """Make records of words, for people to say what each is tied to: to be annotated by the scheme emolex."""
    from emotui.workbench.files import word_questions

    made = word_questions.questions_from(words, seed)
    word_questions.write_questions(made, to)
    if as_json:
        print_json({"words": len(made)})
        return
    say(f"{literal(to)}: {len(made)} words. Then:")
    say(f"  emotui import values {literal(to)} --name words")
    say("  emotui annotate protocol words express-words --annotators A,B,C")


@click.command()
@lexicon_options
@json_option
def supplement(by: WordVectors | None, as_json: bool) -> None:
    """Hold the vectors of emotui's supplement against those of a lexicon file (--lexicon FILE): F1, exact, opposite."""
    if by is None or by.key in BUILT_IN:
        raise BadInput("name the file to hold the supplement against: --lexicon FILE")
    told = supplement_against(by)
    if as_json:
        print_json(told)
        return
    opposite = told.pop("opposite")
    print_figures(f"the supplement against {by.name}", told | {"opposite": len(opposite)})
    if opposite:
        say(f"opposite in sign: {literal(', '.join(opposite))}")


@click.command()
@click.argument("dataset")
@click.option("--annotators", metavar="A,B,...", default="", help="Whose answers (default: all who annotated here).")
@click.option("--least", type=click.IntRange(1), default=1, show_default=True, help="Answers that a word must have.")
@click.option("--with-emolex", is_flag=True, help="EmoLex's own words too, as they stand there: EmoLex, extended.")
@written_option("--to", required=True, type=click.Path(), help="The lexicon to write (.csv), for --lexicon.")
@db_option
@read_only_option
@json_option
def lexicon(
    dataset: str,
    annotators: str,
    least: int,
    with_emolex: bool,
    to: str,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Write a lexicon of what people said of the words of DATASET: 1 where most say moderately or strongly.

    An answer whose word-choice check is wrong is dropped.
    """
    from emotui.workbench.annotate.word_lexicon import annotated_words, write_lexicon
    from emotui.workbench.datasets.sets import dataset_named

    store = look_into(db, read_only=read_only).store
    people = [name for one in annotators.split(",") if (name := one.strip())]
    words = annotated_words(store, dataset_named(store, dataset), people, least)
    written = write_lexicon(words, to, with_emolex=with_emolex)
    rows = [one.document() for one in words]
    told = {
        "words": len(rows),
        "without_vector": sum(row["vector"] is None for row in rows),
        "failed_checks": sum(row["failed_checks"] for row in rows),
        "unfinished": sum(row["unfinished"] for row in rows),
        "written": written,
    }
    if as_json:
        print_json(told | {"by_word": rows})
        return
    say(f"{literal(to)}: {written} words; of {told['words']} annotated {told['without_vector']} have too few answers")
    say(f"answers dropped: {told['failed_checks']} with a wrong check, {told['unfinished']} without all ten dimensions")
    for row in rows:
        if row["halved"]:
            say(f"{literal(row['word'])}: half of the people only, so 0: {', '.join(row['halved'])}")
