"""`emotui words`, `steady` and `lens`: why a model answers as it does, over all texts of a dataset."""

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import click

from emotui.bounded import read_text
from emotui.commands.options import read_labels
from emotui.commands.output import as_written, bar, json_option, print_figures, print_json, say, show_step, terminal
from emotui.commands.program_options import db_option, open_workspace
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.tables import number_of, number_that
from emotui.workbench.progress import RunOptions

if TYPE_CHECKING:
    from emotui.store.query import Dataset
    from emotui.workbench.workspace import Workspace

_MOST_ROWS = 30
"""Words, spans or texts of a word that are printed; --json has all."""

_MOST_TEXTS = 10


def _dataset(workspace: "Workspace", spec: str, name: str | None) -> "Dataset":
    """The dataset that is asked about. Raises BadInput where there is none, or the SPEC is wrong."""
    from emotui.commands.run import asked_dataset

    workspace.model(spec)  # a wrong SPEC is told before anything is imported
    found = workspace.store.datasets.get(asked_dataset(workspace, "scenes", name))
    assert found is not None
    return found


def _signed(value: float) -> str:
    return f"{value:+.3f}"


_kept_option = click.option(
    "--kept", "kept_only", is_flag=True, help="What was found last with this model, without asking it."
)


def _check_kept(*others: object) -> None:
    """Raises BadInput where more is asked for than what was found last."""
    if any(one is not None for one in others):
        raise BadInput("--kept tells what was found last, as it was asked for: give --model and --dataset alone")


def _last_found(workspace: "Workspace", kind: str, spec: str, dataset: str | None) -> dict[str, Any]:
    from emotui.workbench.why.asking import kept_document

    found = workspace.store.datasets.get(dataset or "scenes")
    if found is None:
        raise BadInput(f"the store has no dataset {dataset or 'scenes'!r}: nothing was found of it yet")
    return kept_document(workspace.store, kind, found, spec)


@click.command()
@click.option("--model", "spec", default="embedded", show_default=True, help="The model (SPEC).")
@click.option("--dataset", help="A dataset of the store, or a file (default: the sample scenes).")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first N texts.")
@click.option("--least", type=click.IntRange(min=2), help="Texts that a word has to stand in. [default: 5]")
@click.option("--word", metavar="WORD", help="This word alone, with each text that it stands in.")
@click.option("--label", metavar="LABEL", help="Effects on this label alone.")
@click.option("--method", "way", metavar="NAME", help="How the model is asked, as in run labels.")
@click.option("--spans", metavar="SOURCE", help="Spans in place of words: gold, a run, a person or a file.")
@click.option(
    "--filler",
    type=click.Choice(["own", "neutral"]),
    help="Masked words are the model's own mask token, or “…”. [default: own, where it has one]",
)
@_kept_option
@db_option
@json_option
def words(
    spec: str,
    dataset: str | None,
    limit: int | None,
    least: int | None,
    word: str | None,
    label: str | None,
    way: str | None,
    spans: str | None,
    filler: str | None,
    kept_only: bool,
    db: str | None,
    as_json: bool,
) -> None:
    """Which words move which emotion, over all texts: the model is asked again without each of them.

    A word's effect is how much of a label's probability goes when it is masked, beside the other words of the same text
    (docs/why.md). With --spans the marked spans of a source are taken away, beside random stretches: this makes, or
    finds, a run over the evidence.
    """
    from emotui.workbench.why.words import LEAST, find_spans, find_words

    if spans is not None and (word is not None or least is not None):
        raise BadInput("--word and --least are for words; --spans takes the spans that a source has marked")
    if kept_only:
        _check_kept(limit, least, word, label, way, spans, filler)
    workspace = open_workspace(db)
    try:
        if kept_only:
            document = _last_found(workspace, "words", spec, dataset)
        elif spans is not None:
            document = _of_spans(workspace, spec, dataset, spans, limit, way, filler, find_spans)
        else:
            kept = _dataset(workspace, spec, dataset)
            with bar(f"{spec}: texts without a word") as progress:
                document = find_words(
                    workspace,
                    spec,
                    kept,
                    limit=limit,
                    least=LEAST if least is None else least,
                    only=word,
                    label=label,
                    way=way,
                    filler=filler,
                    on_text=progress,
                )
    finally:
        workspace.close()
    if label is not None and spans is not None:
        document["spans"] = [one for one in document["spans"] if one["label"] == label]
    if as_json:
        print_json(document)
    elif spans is not None:
        _print_spans(document)
    else:
        _print_words(document, one_word=word is not None)


def _of_spans(
    workspace: "Workspace",
    spec: str,
    dataset: str | None,
    spans: str,
    limit: int | None,
    way: str | None,
    filler: str | None,
    find_spans: Any,
) -> dict[str, Any]:
    from emotui.commands.run import asked_dataset

    workspace.model(spec)
    number = asked_dataset(workspace, "evidence", dataset)
    with bar(f"{spec}: texts without a span") as progress:
        run = workspace.run_model(
            spec,
            number,
            RunOptions(way=way, options={"spans": spans} | ({} if filler is None else {"filler": filler}), limit=limit),
            task="evidence",
            on_progress=lambda step: progress(step.done, step.n),
        )
    kept = workspace.store.datasets.get(number)
    assert kept is not None
    return {"dataset": kept.name, "model": spec, "run": run.run, "source": spans, "spans": find_spans(workspace, run)}


def _print_words(document: dict[str, Any], *, one_word: bool) -> None:
    from rich.table import Table

    effects = document["effects"]
    clear = document["clear"]
    say(
        f"{literal(document['model'])} over {literal(document['dataset'])}: {document['n']} texts, "
        f"{document['tested']} words, {document['asked']} texts asked; {clear} effects with q of .05 or less; "
        f"a masked word is {literal(document['filler'])}"
    )
    for note in document.get("notes", {}).values():
        say(literal(note))
    table = Table(box=None, pad_edge=False)
    for name in ("word", "label"):
        table.add_column(name, no_wrap=True)
    for name in ("texts", "drop", "above others", "95%", "q"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in effects[:_MOST_ROWS]:
        ends = f"[{one['low']:+.3f}, {one['high']:+.3f}]"
        cells = one["word"], one["label"], str(one["n"]), _signed(one["drop"]), _signed(one["above"]), ends
        table.add_row(*map(as_written, (*cells, f"{one['q']:.3f}")))
    terminal().print(table)
    if len(effects) > _MOST_ROWS:
        say(f"and {len(effects) - _MOST_ROWS} more (--json has all)")
    if one_word and effects:
        first = effects[0]
        say(f"\n{literal(first['label'])} without {literal(first['word'])}, by text:")
        for key, drop in list(first["texts"].items())[:_MOST_ROWS]:
            say(f"  {_signed(drop)}  {literal(key)}")
        if len(first["texts"]) > _MOST_ROWS:
            say(f"  and {len(first['texts']) - _MOST_ROWS} more (--json has all)")


def _print_spans(document: dict[str, Any]) -> None:
    from rich.table import Table

    say(
        f"{literal(document['model'])} over {literal(document['dataset'])}: spans of {literal(document['source'])} "
        f"taken away (run {document['run']})"
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("span", overflow="ellipsis", no_wrap=True, ratio=1)
    table.add_column("label", no_wrap=True)
    for name in ("texts", "drop", "above random", "matters"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in document["spans"][:_MOST_ROWS]:
        above = "" if one["above"] is None else _signed(one["above"])
        matters = f"{one['matters']} of {one['n']}"
        cells = one["span"], one["label"], str(one["n"]), _signed(one["drop"]), above, matters
        table.add_row(*map(as_written, cells))
    terminal().print(table)
    if len(document["spans"]) > _MOST_ROWS:
        say(f"and {len(document['spans']) - _MOST_ROWS} more (--json has all)")


@click.command()
@click.option("--model", "spec", default="embedded", show_default=True, help="The model (SPEC).")
@click.option("--dataset", help="A dataset of the store, or a file (default: the sample scenes).")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first N texts.")
@click.option("--labels", "labels_file", metavar="FILE", help="Labels to choose among, one a line.")
@click.option("--names", "names_file", metavar="FILE", help="Other names of labels: label = other, one a line.")
@click.option("--variants", type=click.IntRange(1, 20), help="Orders of labels, and rounds of typos. [default: 3]")
@click.option("--method", "way", metavar="NAME", help="How the model is asked, as in run labels.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of orders and typing errors.")
@_kept_option
@db_option
@json_option
def steady(
    spec: str,
    dataset: str | None,
    limit: int | None,
    labels_file: str | None,
    names_file: str | None,
    variants: int | None,
    way: str | None,
    seed: int,
    kept_only: bool,
    db: str | None,
    as_json: bool,
) -> None:
    """Which answers flip when the same is asked in other words, beside how far people disagree.

    The labels stand in another order, or have other names; texts have typing errors; the model is asked by another
    method. None of this changes what a text says (docs/why.md).
    """
    from emotui.workbench.why.steady import VARIANTS, find_flips

    if kept_only:
        _check_kept(limit, labels_file, names_file, variants, way, seed or None)
    names = None if names_file is None else _names(names_file)
    options = {} if labels_file is None else {"labels": read_labels(labels_file)}
    workspace = open_workspace(db)
    try:
        if kept_only:
            document = _last_found(workspace, "steady", spec, dataset)
        else:
            kept = _dataset(workspace, spec, dataset)
            with bar(f"{spec}: the same in other words") as progress:
                document = find_flips(
                    workspace,
                    spec,
                    kept,
                    limit=limit,
                    variants=VARIANTS if variants is None else variants,
                    names=names,
                    way=way,
                    options=options,
                    seed=seed,
                    on_text=progress,
                )
    finally:
        workspace.close()
    if as_json:
        print_json(document)
        return
    flipped = document.pop("flipped")
    for row in document["factors"].values():
        del row["by_label"]
    print_figures(f"{document['model']} over {document['dataset']}", document)
    if flipped:
        say(f"{len(flipped)} of {document['n']} texts flipped at least once:")
    for key, said in list(flipped.items())[:_MOST_TEXTS]:
        others = "; ".join(
            f"{factor}: {' / '.join(', '.join(one) or 'none' for one in answers)}"
            for factor, answers in said.items()
            if factor != "plain"
        )
        say(f"  {literal(key)}  {literal(', '.join(said['plain']) or 'none')} -> {literal(others)}")
    if len(flipped) > _MOST_TEXTS:
        say(f"  and {len(flipped) - _MOST_TEXTS} more (--json has all)")


def _names(path: str) -> Mapping[str, str]:
    """Raises BadInput where a line is no `label = other`, or a label stands twice."""
    found: dict[str, str] = {}
    read_labels(path)
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip():
            continue
        label, sign, other = (part.strip() for part in line.partition("="))
        if not (label and sign and other):
            raise BadInput(f"{path}:{number}: write label = other, such as joy = joyful")
        if label in found:
            raise BadInput(f"{path}:{number}: the label {label!r} stands twice")
        found[label] = other
    return found


@click.command()
@click.option("--model", "spec", default="embedded", show_default=True, help="The model (SPEC): embedded or hf:.")
@click.option("--dataset", help="A dataset of the store, or a file (default: the sample scenes).")
@click.option("--values", is_flag=True, help="Probe for gold numbers (valence), not for labels.")
@click.option("--layers", metavar="N,...", help="These layers and layer 0. [default: all]")
@click.option("--text", metavar="TEXT", help="Show this text by word and layer.")
@click.option("--label", metavar="LABEL", help="With --text: this label. [default: the one that stands out]")
@click.option("--answers", metavar="RUN", help="Beside which answers; none: leave them out. [default: the model's own]")
@click.option("--code", metavar="CODE", help="Give the texts that were known and not said this code: a filter.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first N texts.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of folds, shuffles and resamples.")
@db_option
@json_option
def lens(
    spec: str,
    dataset: str | None,
    values: bool,
    layers: str | None,
    text: str | None,
    label: str | None,
    answers: str | None,
    code: str | None,
    limit: int | None,
    seed: int,
    db: str | None,
    as_json: bool,
) -> None:
    """What each layer of a model knows: probes beside their controls, and what it knew and did not say.

    A probe is fitted at each layer on labelled texts, and judged on others. Its figure stands beside that of shuffled
    labels, of a word list and of the embedding layer; a layer that does not beat all three is marked (docs/why.md).
    With --text it is shown which words of this text each layer reads a label off; of a text of the dataset by probes
    that were fitted without it.
    """
    from emotui.commands.run import asked_dataset
    from emotui.errors import ModelError
    from emotui.workbench.notes import code_name
    from emotui.workbench.why.lens import code_known
    from emotui.workbench.why.lens import lens as probed

    if code is not None:
        code_name(code)  # a wrong name is told before anything is asked
        if text is not None or values or answers == "none":
            raise BadInput(
                "--code is for texts whose labels are not said: leave --text, --values and --answers none out"
            )
    chosen = None if layers is None else _numbers(layers)
    if label is not None and text is None:
        raise BadInput("--label says of which label --text is shown; the lens shows every label")
    if text is not None and (values or answers is not None):
        raise BadInput("--text shows labels by word and layer: --values and --answers have no say there")
    workspace = open_workspace(db)
    try:
        workspace.model(spec)  # a wrong SPEC is told before anything is imported
        kept = workspace.store.datasets.get(asked_dataset(workspace, "scenes", dataset))
        assert kept is not None
        if text is not None:
            _show_heat(workspace, spec, kept, text, label, chosen, limit, seed, as_json)
            return
        run, why = None, ""
        if answers is not None and answers != "none":
            run = workspace.store.runs.get(answers)
            if (run.task, run.dataset) != ("labels", kept.dataset):
                raise BadInput(f"{run.run} is no run of the labels task over {kept.name}")
        elif answers is None and not values:
            try:
                with bar(f"{spec}: labels") as progress:
                    run = workspace.run_model(
                        spec, kept.dataset, task="labels", on_progress=lambda step: progress(step.done, step.n)
                    )
            except (BadInput, ModelError) as error:
                why = str(error)
        with bar(f"{spec}: layers") as progress:
            found = probed(
                workspace.store,
                workspace.model(spec),
                kept,
                kind="values" if values else "labels",
                layers=chosen,
                answers=run,
                limit=limit,
                seed=seed,
                on_text=progress,
            )
        coded = None if code is None else code_known(workspace.notes(), workspace.store, kept, found, code)
    finally:
        workspace.close()
    if why:
        found["notes"] = {**found["notes"], "not_said": f"the model's own answers are left out: {why}"}
    if as_json:
        print_json(found)
        return
    head = f"{found['model']} over {found['dataset']}: {found['figure']} of probes, {found['state']}"
    cosines = found.pop("cosines", {})
    texts = found.get("not_said", {}).pop("texts", {})
    print_figures(head, found)
    valences = {layer: one for layer, one in cosines.items() if "same_valence" in one}
    if valences:
        say("cosines of the labels' directions, by layer: between labels of one valence, across, how often the first")
        say("is higher (1: directions order by valence, .5: they do not; --json has every pair)")
        for layer, one in valences.items():
            say(f"  {layer:>3}  {one['same_valence']:+.2f}  {one['other_valence']:+.2f}  {one['by_valence']:.2f}")
    elif cosines:
        say("cosines of the directions in which numbers rise, by layer")
        for layer, one in cosines.items():
            told = [
                f"{literal(a)} {literal(b)} {one['between'][a][b]:+.2f}" for a, b in combinations(one["between"], 2)
            ]
            say(f"  {layer:>3}  {', '.join(told)}")
    if texts:
        say(f"known at layer {found['best_layer']} and not said, {number_of(len(texts), 'text')}:")
        for key, names in list(texts.items())[:_MOST_TEXTS]:
            say(f"  {literal(key)}  {literal(', '.join(names))}")
        if len(texts) > _MOST_TEXTS:
            say(f"  and {len(texts) - _MOST_TEXTS} more (--json has all)")
    if coded is not None:
        say(
            f"{number_that(len(coded[1]), 'text', 'has', 'have')} the code {literal(str(code))} now, "
            f"in notes by {literal(coded[0])}"
        )


def _show_heat(
    workspace: "Workspace",
    spec: str,
    dataset: "Dataset",
    text: str,
    label: str | None,
    layers: tuple[int, ...] | None,
    limit: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Raises BadInput where the probes have no such label."""
    from rich.table import Table

    from emotui.tasks.parts import matched

    found = workspace.layers().read(
        spec, dataset, text, label=label, layers=layers, limit=limit, seed=seed, progress=show_step
    )
    name = None if label is None else matched(label, found.labels)
    name = found.labels[found.likeliest] if name is None else name
    at = found.labels.index(name)
    keys = [str(layer) for layer in found.layers]
    rows: dict[str, dict[str, Any]] = {
        key: {"auc": found.auc[at][row], "beats_controls": found.clear[at][row], "text": found.whole[at][row]}
        | ({"said": found.said[at][row]} if found.said else {})
        for row, key in enumerate(keys)
    }
    by_word = list(zip(*found.scores[at], strict=True))
    words: list[dict[str, Any]] = [
        {"word": text[start:end], "place": [start, end], "scores": dict(zip(keys, scores, strict=True))}
        for (start, end), scores in zip(found.words, by_word, strict=True)
    ]
    if as_json:
        of = {"dataset": found.dataset, "model": spec, "label": name, "n": found.n, "left_out": found.left_out}
        more = {"truncated": found.truncated, "labels": list(found.labels), "by_layer": rows, "words": words}
        print_json({**of, **more})
        return
    left = f", {found.left_out} left out" if found.left_out else ""
    head = f"{literal(name)} by layer and word: {literal(spec)}, probes of {found.n} texts of {literal(found.dataset)}"
    say(f"{head}{left}")
    table = Table(box=None, pad_edge=False)
    table.add_column("layer", no_wrap=True)
    for key in keys:
        table.add_column(key, justify="right", no_wrap=True)
    for word in words:
        table.add_row(*map(as_written, (word["word"], *(f"{score:+.1f}" for score in word["scores"].values()))))
    table.add_row(*map(as_written, ("the text", *(f"{row['text']:+.1f}" for row in rows.values()))), style="bold")
    if found.said:
        table.add_row(*map(as_written, ("said", *(f"{row['said']:.2f}" for row in rows.values()))))
    table.add_row(*map(as_written, ("auc", *(f"{row['auc']:.2f}" for row in rows.values()))))
    table.add_row(
        *map(as_written, ("beats controls", *("yes" if row["beats_controls"] else "no" for row in rows.values())))
    )
    terminal().print(table)
    say("scores in standard deviations, of words among words and of the text among texts of the dataset (docs/why.md)")
    if found.truncated:
        say("the text is longer than the model reads, and was cut")


def _numbers(layers: str) -> tuple[int, ...]:
    """Raises BadInput where they are no whole numbers."""
    try:
        return tuple(int(one) for one in layers.split(","))
    except ValueError:
        raise BadInput(f"--layers {layers}: give whole numbers with commas between, such as 2,5,11") from None
