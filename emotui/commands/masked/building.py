"""`emotui masked build`: raw posts in the first person to records with masked emotion words."""

import click

from emotui.commands.exchange.written import written_option
from emotui.commands.output import json_option, print_figures, print_json, say, skip_bad_option, warn
from emotui.errors import BadInput


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
    from emotui.workbench.files import build_masked

    if posts == "-" and decisions:
        raise BadInput("--decisions reads the posts twice: name a file, not -")
    how = build_masked.Building(words, not full_posts, tokenizer, decided)
    built = build_masked.build_file(posts, how, skip_bad=skip_bad, warn=warn)
    if decisions:
        build_masked.write_decisions(built, build_masked.texts_of(posts, skip_bad=skip_bad), decisions)
    if to:
        build_masked.write_built(built, to)
    document = built.document()
    if as_json:
        document["built"] = [present(record) for record in built.records]
        if explain:
            document["decisions"] = [
                {"post": post.post} | msgspec.to_builtins(one) for post in built.posts for one in post.decisions
            ]
        print_json(document)
        return
    for line in build_masked.explained(built) if explain else ():
        say(literal(line))
    if to or explain:
        print_figures(posts, document)
        return
    build_masked.write_built(built, "-")
