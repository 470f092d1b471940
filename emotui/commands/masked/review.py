"""`emotui masked review`: the manual pass over doubtful masks, gone through in the workbench."""

import click

from emotui.commands.exchange.written import written_option
from emotui.commands.output import json_option, print_figures, print_json, say, skip_bad_option, warn
from emotui.commands.program_options import db_option, look_into, open_workspace, read_only_option
from emotui.formats.rows import literal


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
    from emotui.workbench.files.build_masked import Building
    from emotui.workbench.masked.review import begin_review

    how = Building(words, not full_posts, tokenizer)
    store = open_workspace(db).store
    made = begin_review(store, name, posts, how, every=every, skip_bad=skip_bad, warn=warn)
    doubtful = sum(len(post.doubtful) for post in made.posts)
    if as_json:
        print_json({"review": name, "posts": len(made.posts), "doubtful": doubtful})
    else:
        say(f"{literal(name)}: {doubtful} masks in {len(made.posts)} posts to look at: emotui, then 5 and F4")


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
