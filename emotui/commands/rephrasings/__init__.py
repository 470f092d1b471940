"""`emotui rephrasings`: chains of rephrasings as sets, statistics, splits and files."""

import click

from emotui.commands.rephrasings.evaluate import evaluate
from emotui.commands.rephrasings.kept import agreement, export, import_, variants
from emotui.commands.rephrasings.sets import sets, split, statistics
from emotui.commands.rephrasings.suggest import prompt, suggest


@click.group()
def rephrasings() -> None:
    """Sets 1R to 4R of rephrased texts, their statistics, and splits for training."""


for command in (agreement, evaluate, export, import_, prompt, sets, split, statistics, suggest, variants):
    rephrasings.add_command(command)
