"""`emotui rephrasings suggest` and `prompt`: rephrasings by a model, and how it is asked for them."""

import click

from emotui.commands.output import json_option, print_json, say, warn
from emotui.commands.program_options import check_may_write, db_option, open_workspace, read_only_option
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.tasks.rephrase.suggesting import PROMPTS, WAY, read_suggestion_prompts
from emotui.workbench.rephrase.suggestions import keep_prompts, kept_prompts, suggestions_for


@click.command()
@click.option("--model", "spec", required=True, help="A model that writes: hf:, gguf: or openai:.")
@click.option("--text", required=True, help="The original.")
@click.option("--label", required=True, help="Its gold label.")
@click.option("--classifier", default="embedded", show_default=True, help="The model whose verdict is wanted (SPEC).")
@click.option("--prompts", type=click.Path(), help="Your own prompt (TOML, docs/prompts.md).")
@json_option
def suggest(spec: str, text: str, label: str, classifier: str, prompts: str | None, as_json: bool) -> None:
    """Three rephrasings by a model that avoid the words which give the emotion away, each with the verdict."""
    own = read_suggestion_prompts(prompts) if prompts else PROMPTS
    if not text.strip():
        raise BadInput("--text is empty: give the text that is to be rephrased")
    found = suggestions_for(text, label, spec, classifier, prompts=own, progress=warn)
    if as_json:
        names = ("text", "predicted", "confidence", "similarity", "cues")
        print_json({"suggestions": [{name: getattr(one, name) for name in names} for one in found]})
        return
    for one in found:
        similarity = "–" if one.similarity is None else f"{one.similarity:.2f}"
        verdict = f"{one.predicted}   {label} {one.confidence:.2f}   similarity {similarity}"
        say(f"{literal(one.text)}\n    {literal(verdict)}")


@click.command()
@click.argument("file", type=click.Path(), required=False)
@click.option("--own", is_flag=True, help="Go back to emotui's own prompt.")
@db_option
@read_only_option
def prompt(file: str | None, own: bool, db: str | None, read_only: bool) -> None:
    """Keep the prompt of FILE in the workspace, for suggestions in the Rephrase place; without FILE, show it."""
    if file and own:
        raise BadInput("give a FILE, or --own, not both")
    if file or own:
        check_may_write(read_only, "a prompt that is kept")
    store = open_workspace(db, read_only=read_only).store
    if file or own:
        keep_prompts(store, file)
        return
    kept = kept_prompts(store)[WAY]
    say(f"[system]\n{kept.system}\n\n[user]\n{kept.user}")
