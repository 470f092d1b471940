"""`emotui masked`: sets of masked emotion words (EXPRESS) from raw posts, and figures over several predictions."""

import click

from emotui.commands.masked.building import build, examples, lexicon, questions, review, supplement
from emotui.commands.masked.figures import compare, errors, lengths, published, sizes
from emotui.commands.masked.study import study


@click.group()
def masked() -> None:
    """Build sets of masked emotion words, and analyse what models fill in."""


for command in (
    build,
    compare,
    errors,
    examples,
    lengths,
    lexicon,
    published,
    questions,
    review,
    sizes,
    study,
    supplement,
):
    masked.add_command(command)
