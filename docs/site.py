"""What the site does that mkdocs does not: the commands as click has them, and links to files that are no pages.

Such links are told by their path in the source.
"""

import re
from typing import Any

import click

from emotui.commands import COMMANDS, cli

OUTSIDE = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+)([^)#]+)(#[^)]*)?\)")


COMMANDS_HERE = "<!-- every command -->"


def helps(name: str, command: click.Command, parent: click.Context, depth: int = 3) -> str:
    """A command's help under its name, and that of its subcommands."""
    context = click.Context(command, info_name=name, parent=parent, max_content_width=100)
    page = f"{'#' * depth} `{context.command_path}`\n\n```text\n{command.get_help(context)}\n```\n\n"
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            if found is not None:
                page += helps(inner, found, context, depth + 1)
    return page


def every_command() -> str:
    """All commands, by their names."""
    context = click.Context(cli, info_name="emotui")
    found = ((name, cli.get_command(context, name)) for name in sorted(COMMANDS))
    return "".join(helps(name, command, context) for name, command in found if command is not None)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """`[text](../file)`, where that leads out of `docs/`, becomes the text and the file's path."""
    depth = page.file.src_uri.count("/")

    def named(link: re.Match[str]) -> str:
        text, up, path = link[1], link[2], link[3]
        if up.count("../") <= depth:
            return link[0]
        return f"`{path}`" if path.endswith(text.strip("`")) else f"{text} (`{path}` in the source)"

    if COMMANDS_HERE in markdown:
        return OUTSIDE.sub(named, markdown).replace(COMMANDS_HERE, every_command())
    return OUTSIDE.sub(named, markdown)
