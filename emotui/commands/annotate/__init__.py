"""`emotui annotate`: who annotates what, by which scheme, how far they are, and how their answers came about."""

import click

from emotui.commands.annotate.planning import assign, progress, protocol, verify
from emotui.commands.annotate.schemes import scheme
from emotui.commands.annotate.trace import log


@click.group()
def annotate() -> None:
    """Annotation by people: assignments, schemes, progress, and the log. The annotating itself is place 2."""


for command in (assign, log, progress, protocol, scheme, verify):
    annotate.add_command(command)
