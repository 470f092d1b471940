"""`emotui masked lengths`: a model on segments against full posts (Table 4)."""

import click

from emotui.commands.masked.figures import print_rows
from emotui.commands.options import asking_options, lexicon_options, one_way
from emotui.commands.output import json_option, print_json, say, skip_bad_option, warn
from emotui.tasks.masked.lexicon import UNLIKE_PAPER_BESIDE, WordVectors


@click.command()
@click.option("--posts", required=True, type=click.Path(), help="Raw posts with a text each, as for masked build.")
@click.option("--model", "spec", default="embedded", show_default=True, help="The model (SPEC).")
@click.option("--words", type=click.Path(), help="Emotion words of your own, one a line, in place of emotui's.")
@click.option("--tokenizer", default="", help="Measure segments by this model's tokenizer: a folder or tokenizer.json.")
@click.option("--way", help="How to ask, where there are several ways (docs/prompts.md).")
@click.option("--published", is_flag=True, help="The paper's Table 4 beside.")
@click.option("--kind", hidden=True, default="masked", type=click.Choice(["masked"]))
@asking_options
@lexicon_options
@skip_bad_option
@json_option
def lengths(
    posts: str,
    spec: str,
    words: str | None,
    tokenizer: str,
    way: str | None,
    published: bool,
    kind: str,
    written_way: str | None,
    options: dict[str, object],
    by: WordVectors | None,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Segments against full posts: build both of one file of posts, ask a model about both, and score both (Table 4).

    Few-shot ways need examples for each record, which have other ids in segments: build and run both by themselves.
    """
    from emotui.tasks.masked.published import published as printed
    from emotui.workbench.files.build_masked import Building
    from emotui.workbench.files.masked_lengths import masked_lengths

    document = masked_lengths(
        posts,
        spec,
        Building(words=words, tokenizer=tokenizer),
        way=one_way(way, written_way),
        options=options,
        lexicon=by,
        skip_bad=skip_bad,
        warn=warn,
    )
    table = printed("4")
    if as_json:
        print_json(document | ({"published": table} if published else {}))
        return
    rows = [{"setting": name} | figures for name, figures in document["settings"].items()]
    if published:
        rows += [row | {"setting": f"{row['setting']}, GPT-4o †", "mean_words": row["words"]} for row in table["rows"]]
    print_rows(rows, ("setting", "n", "masks", "mean_words", "acc_l", "acc_v", "f1_v", "valid_answers", "failed"))
    if published:
        say(f"† {table['cite']}")
        if by is None or not by.express:
            say(UNLIKE_PAPER_BESIDE)
