"""`emotui train`: classifiers of the person's own."""

import click

from emotui.commands.train_classifier import train_classifier


@click.group()
def train() -> None:
    """Train a classifier of your own."""


train.add_command(train_classifier)
