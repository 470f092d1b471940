"""`emotui map-labels`: the mappings of span labels that are kept with a dataset."""

import click

from emotui.commands.exchange.written import written_option
from emotui.commands.output import json_option, print_json, say
from emotui.commands.program_options import db_option, look_into
from emotui.errors import BadInput
from emotui.formats import write_text
from emotui.formats.rows import literal
from emotui.tasks.spans.label_maps import hash_of, read_label_map
from emotui.workbench.datasets import label_maps
from emotui.workbench.datasets.sets import dataset_named
from emotui.workbench.runs.run import EMBEDDING
from emotui.workbench.runs.similarity import Embedder


@click.command("map-labels")
@click.argument("dataset")
@click.option("--guess", is_flag=True, help="Propose a mapping and keep nothing.")
@click.option("--model", metavar="SPEC", help="With --guess: of the labels of this model (it is loaded).")
@click.option("--run", "run_name", metavar="RUN", help="With --guess: of the labels that this run says.")
@click.option("--nearest", is_flag=True, help="With --guess: tell the nearest label by `embedded` beside each.")
@click.option("--source", "whose", metavar="NAME", help="The mapping of this model, person or file alone.")
@click.option("--set", "pairs", multiple=True, metavar="THEIRS=OURS", help="Add a line, or remove it: THEIRS= .")
@click.option("--from", "source", type=click.Path(), help="Keep the mapping of this TOML file.")
@written_option("--to", "target", type=click.Path(), help="Write what would be printed to this file.")
@click.option("--clear", is_flag=True, help="Keep no mapping any more.")
@db_option
@json_option
def map_labels(
    dataset: str,
    guess: bool,
    model: str | None,
    run_name: str | None,
    nearest: bool,
    whose: str | None,
    pairs: tuple[str, ...],
    source: str | None,
    target: str | None,
    clear: bool,
    db: str | None,
    as_json: bool,
) -> None:
    """Show or change what sources call the labels of DATASET's gold spans, as TOML lines `theirs = "ours"`.

    The mapping is applied whenever runs and files over DATASET are scored; scores that are there keep what they were
    computed under until `emotui rescore`. What is kept with --source goes before what is kept for all. A guess is
    printed, never kept: look at it, then `--from` it.
    """
    if (model or run_name or nearest) and not guess:
        raise BadInput("--model, --run and --nearest say how labels are guessed: add --guess")
    if guess and (pairs or source or clear):
        raise BadInput("--guess keeps nothing: write it to a file with --to, then --from that file")
    workspace = look_into(db)
    try:
        store = workspace.store
        found = dataset_named(store, dataset)
        own = label_maps.gold_labels(store, found)
        near = None
        if guess:
            if model:
                theirs = label_maps.labels_of_model(workspace.model(model).load())
            else:
                runs = (store.run(run_name).run,) if run_name else label_maps.runs_of(store, found)
                theirs = label_maps.labels_said(store, runs)
            shown: dict[str, str | None] = label_maps.guessed(theirs, own)
            if nearest:
                near = label_maps.nearest(theirs, own, Embedder(workspace.model(EMBEDDING)))
        else:
            mapping = {} if clear else read_label_map(source) if source else label_maps.label_map(store, found, whose)
            for theirs_name, ours in map(_pair, pairs):
                mapping.pop(theirs_name, None)
                if ours:
                    mapping[theirs_name] = ours
            if clear or source or pairs:
                label_maps.keep_label_map(store, found, mapping, whose)
                say("Runs keep their scores until they are scored again: emotui rescore RUN", err=True)
            shown = dict(mapping)
    finally:
        workspace.close()
    if as_json:
        name = hash_of({label: image for label, image in shown.items() if image})
        told = {} if near is None else {"nearest": {k: {"label": v, "cosine": c} for k, (v, c) in near.items()}}
        head = {"dataset": found.name, "gold_labels": list(own), "source": whose, "mapping": shown, "hash": name}
        print_json(head | {"kept": not guess} | told)
        return
    lines = label_maps.as_toml(shown, near)
    if target is None:
        say("".join(f"{literal(line)}\n" for line in lines.splitlines()) or "# no mapping", nl=not lines)
        return
    write_text(target, lines)


def _pair(given: str) -> tuple[str, str]:
    theirs, equals, ours = given.partition("=")
    if not (equals and theirs.strip()):
        raise BadInput(f"--set takes THEIRS=OURS, not {given!r}")
    return theirs.strip(), ours.strip()
