"""`emotui masked build`: raw posts in the first person to records with masked emotion words."""

import click

from emotui.commands.exchange.written import written_option
from emotui.commands.options import lexicon_options
from emotui.commands.output import json_option, print_figures, print_json, say, skip_bad_option, warn
from emotui.commands.program_options import db_option, look_into, open_workspace, read_only_option
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.tables import number_of
from emotui.tasks.masked.lexicon import BUILT_IN, WordVectors, supplement_against
from emotui.workbench.masked.of_files import CHOICES

# `emotui masked review`: the manual pass over doubtful masks, gone through in the workbench.


@click.group()
def review() -> None:
    """Go through doubtful masks of raw posts: kept, dropped or moved, in the workbench (5, then F4)."""


@review.command("begin")
@click.argument("name")
@click.option("--posts", required=True, type=click.Path(), help="Raw posts, as for emotui masked build; a file.")
@click.option("--words", type=click.Path(), help="Emotion words of your own, one a line, in place of emotui's.")
@click.option("--full-posts", is_flag=True, help="Keep long posts whole, in place of segments of 510 tokens.")
@click.option("--tokenizer", default="", help="Measure segments by this model's tokenizer: a folder or tokenizer.json.")
@click.option("--every", is_flag=True, help="Look at every mask, in place of the doubtful ones.")
@skip_bad_option
@db_option
@json_option
def begin(
    name: str,
    posts: str,
    words: str | None,
    full_posts: bool,
    tokenizer: str,
    every: bool,
    skip_bad: bool,
    db: str | None,
    as_json: bool,
) -> None:
    """Mask the posts by the protocol, and keep what of it is doubtful as the review NAME."""
    from emotui.workbench.masked.building import Building
    from emotui.workbench.masked.review import begin_review

    how = Building(words, not full_posts, tokenizer)
    store = open_workspace(db).store
    made = begin_review(store, name, posts, how, every=every, skip_bad=skip_bad, warn=warn)
    doubtful = sum(len(post.doubtful) for post in made.posts)
    if as_json:
        print_json({"review": name, "posts": len(made.posts), "doubtful": doubtful})
    else:
        say(
            f"{literal(name)}: {number_of(doubtful, 'mask')} in {number_of(len(made.posts), 'post')} to look at: "
            "emotui, then 5 and F4"
        )


@review.command("list")
@db_option
@read_only_option
@json_option
def listing(db: str | None, read_only: bool, as_json: bool) -> None:
    """List the reviews and how far they are."""
    from emotui.workbench.masked.review import progress_of, reviews

    store = look_into(db, read_only=read_only).store
    rows = [{"review": name} | progress_of(store, name) for name in reviews(store)]
    if as_json:
        print_json({"reviews": rows})
        return
    for row in rows:
        counts = ", ".join(f"{row[key]} {key}" for key in ("kept", "dropped", "moved"))
        say(f"{literal(row['review'])}: {row['doubtful']} doubtful: {counts}")
    if not rows:
        say("no review yet: emotui masked review begin NAME --posts FILE")


@review.command("write")
@click.argument("name")
@written_option("--to", required=True, type=click.Path(), help="Write the masked records there.")
@skip_bad_option
@db_option
@json_option
def write(name: str, to: str, skip_bad: bool, db: str | None, as_json: bool) -> None:
    """Write the set: the posts masked by the protocol, and by what was said in the review."""
    from emotui.workbench.masked.review import write_reviewed

    document = write_reviewed(look_into(db).store, name, to, warn=warn, skip_bad=skip_bad)
    if as_json:
        print_json(document)
    else:
        print_figures(to, document)


# `emotui masked questions`, `lexicon` and `supplement`: words that people tie to ten dimensions, and lexicons.


@click.command()
@click.option("--words", required=True, type=click.Path(), help="A word a line, or word,near,other,other,other.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the checks' words and their order.")
@written_option(
    "--to", required=True, type=click.Path(), help="The file of records to write, for emotui import values."
)
@json_option
def questions(words: str, seed: int, to: str, as_json: bool) -> None:
    """Make records of words, for people to say what each is tied to: to be annotated by the scheme emolex."""
    from emotui.workbench.masked.annotated_words import questions_from, write_questions

    made = questions_from(words, seed)
    write_questions(made, to)
    if as_json:
        print_json({"words": len(made)})
        return
    say(f"{literal(to)}: {number_of(len(made), 'word')}. Then:")
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
    from emotui.workbench.datasets.sets import dataset_named
    from emotui.workbench.masked.annotated_words import annotated_words, write_lexicon

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


# `emotui masked examples`: what few-shot prompts about masked texts will show.


@click.command()
@click.option("--records", required=True, help="Masked records to choose examples for.")
@click.option("--pool", type=click.Path(), help="Masked records to take examples from (default: the records).")
@click.option("--choose", type=click.Choice(CHOICES), default="nearest", show_default=True)
@click.option("--encoder", default="embedded", show_default=True, help="The model (SPEC) whose embeddings are near.")
@click.option("--shots", type=click.IntRange(1, 100), default=4, show_default=True, help="Examples for each record.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of drawing.")
@written_option("--to", required=True, type=click.Path(), help="The file to write (.jsonl), for --examples.")
@db_option
@read_only_option
@json_option
def examples(
    records: str,
    pool: str | None,
    choose: str,
    encoder: str,
    shots: int,
    seed: int,
    to: str,
    db: str | None,
    read_only: bool,
    as_json: bool,
) -> None:
    """Choose what few-shot-random and few-shot-nearest show: texts with as many masks, never of the same post.

    What is embedded for the nearest is kept in the workspace: no text is embedded twice.
    """
    from emotui.workbench.masked import of_files

    store = look_into(db, read_only=read_only).store if choose == "nearest" else None
    found = of_files.choose_examples(
        records, pool, choose, encoder=encoder, seed=seed, shots=shots, store=store, warn=warn
    )
    of_files.write_examples(found, to)
    told = {"records": len(found), "examples": sum(len(one.examples) for one in found), "choose": choose}
    if as_json:
        print_json(told)
    else:
        say(f"{to}: {told['examples']} examples for {told['records']} records")


@click.command()
@click.option("--posts", required=True, help="Raw posts with a text each: .jsonl, .csv, .tsv, .parquet, or -.")
@written_option("--to", type=click.Path(), help="Write the masked records there (default: standard output).")
@click.option("--words", type=click.Path(), help="Emotion words of your own, one a line, in place of emotui's.")
@click.option("--full-posts", is_flag=True, help="Keep long posts whole, in place of segments of 510 tokens.")
@click.option("--tokenizer", default="", help="Measure segments by this model's tokenizer: a folder or tokenizer.json.")
@click.option("--explain", is_flag=True, help="Print what was decided about each emotion word, and by which rule.")
@written_option("--decisions", type=click.Path(), help="Write the decisions to a .csv, to be gone through.")
@click.option("--decided", type=click.Path(), help="Decisions that you have gone through: its column masked counts.")
@skip_bad_option
@json_option
def build(
    posts: str,
    to: str | None,
    words: str | None,
    full_posts: bool,
    tokenizer: str,
    explain: bool,
    decisions: str | None,
    decided: str | None,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Mask the emotion words that writers say of themselves (I feel, I am, feeling), and cut long posts."""
    import msgspec

    from emotui.formats.json_document import present
    from emotui.formats.rows import literal
    from emotui.workbench.masked import building

    if posts == "-" and decisions:
        raise BadInput("--decisions reads the posts twice: name a file, not -")
    how = building.Building(words, not full_posts, tokenizer, decided)
    built = building.build_file(posts, how, skip_bad=skip_bad, warn=warn)
    if decisions:
        building.write_decisions(built, building.texts_of(posts, skip_bad=skip_bad), decisions)
    if to:
        building.write_built(built, to)
    document = built.document()
    if as_json:
        document["built"] = [present(record) for record in built.records]
        if explain:
            document["decisions"] = [
                {"post": post.post} | msgspec.to_builtins(one) for post in built.posts for one in post.decisions
            ]
        print_json(document)
        return
    for line in building.explained(built) if explain else ():
        say(literal(line))
    if to or explain:
        print_figures(posts, document)
        return
    building.write_built(built, "-")
