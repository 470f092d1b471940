"""`emotui models`, `bench` and `scale`: which models are at hand, how fast one is, what many texts cost.

And how `probe` shows what one says.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from emotui.bounded import read_text
from emotui.commands.options import TaskName, read_labels
from emotui.commands.output import as_written, json_option, print_json, say, terminal
from emotui.commands.program_options import FiniteRange, Waiting, check_may_write, db_option, read_only_option
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.tables import reads_zero

if TYPE_CHECKING:
    from emotui.workbench.models.benchmark import Bench
    from emotui.workbench.models.discovery import Found
    from emotui.workbench.models.probe import Probe, Regressed, TaskAnswer
    from emotui.workbench.models.scale import Cost

# How people see a probe: the text with its evidence marked, then each thing that the model said.

_BAR = 20
_MOST_CLASSES = 6
_KEPT_BACK = {"yes": "at most this", "no": "at least this", "both": "not known"}
"""What is then known of the log-odds."""

_MOST_WORDS = 8


def print_probe(found: "Probe") -> None:
    """Print one panel; whatever comes from the text or the model is shown literally."""
    parts = [part for part in _parts(found) if part is not None]
    title = _text(f"{found.card.spec}   {found.card.name}")
    terminal().print(Panel(Group(*parts), title=title, title_align="left", padding=(1, 2)))


def _parts(found: "Probe") -> list[RenderableType | None]:
    parts: list[RenderableType | None] = [_marked(found)]
    if found.spans is not None:
        parts.append(_spans(found))
    for name, one in (found.classes or {}).items():
        kind = "each by itself" if one.multi_label else "sum 1"
        cut = "; the text was cut" if one.truncated else ""
        best = sorted(one.probs.items(), key=lambda pair: -pair[1])[:_MOST_CLASSES]
        parts.append(_bars(f"{name}: {one.label}   ({kind}{cut})", [(k, v, v) for k, v in best]))
    if found.numbers is not None:
        parts.append(_numbers(found.numbers))
    if found.emotions is not None:
        rows = [(name, odds.log_odds, min(1.0, abs(odds.log_odds) / 6)) for name, odds in found.emotions.items()]
        mass = min(odds.mass for odds in found.emotions.values())
        said = "log-odds of each emotion" + (f"   (yes and no together hold at least {mass:.2g})" if mass < 1 else "")
        parts.append(_bars(said, rows, signed=True))
        kept_back = [f"{name} ({_KEPT_BACK[odds.censored]})" for name, odds in found.emotions.items() if odds.censored]
        if kept_back:
            parts.append(_text(f"The server kept an answer's probability back: {', '.join(kept_back)}", style="dim"))
    if found.words is not None:
        best_words = sorted(found.words.words, key=lambda word: -abs(word[2]))[:_MOST_WORDS]
        most = max((abs(drop) for _, _, drop in best_words), default=1.0) or 1.0
        words = [(found.text[start:end], drop, abs(drop) / most) for start, end, drop in best_words]
        parts.append(_bars(f"words that carry {found.words.label}   (what it loses without them)", words, signed=True))
    if found.masks is not None:
        for number, mask in enumerate(found.masks.masks, 1):
            parts.append(_bars(f"mask {number}", [(word, p, p) for word, p in mask[:_MOST_CLASSES]]))
    if found.generation is not None:
        one_line = f"written ({found.generation.tokens} tokens, {found.generation.finish})"
        parts.append(Group(_text(f"\n{one_line}", style="bold"), _text(found.generation.text)))
    parts += [_task(answer) for answer in found.tasks.values()]
    parts.append(_notes(found))
    return parts


def _task(answer: "TaskAnswer") -> RenderableType:
    """What the model read and wrote, letter for letter."""
    prompt = answer.rendered or answer.prompt
    shown: list[tuple[str, str]] = []
    if prompt is not None:
        shown.append(("what the model read" if answer.rendered else "what it was sent", prompt))
    shown += [(f"what it wrote{_nth(place, answer.written)}", text) for place, text in enumerate(answer.written)]
    if answer.raw is not None and answer.raw not in answer.written:
        shown.append(("kept", answer.raw))
    if answer.parsed is not None and answer.written:
        shown.append(("read from it", msgspec.json.encode(_said(answer.parsed)).decode()))
    if answer.why is not None:
        shown.append(("trouble", answer.why))
    title = f"\ntask {answer.task}" + (f", asked by {answer.way}" if answer.way else "")
    lines: list[RenderableType] = [_text(title, style="bold")]
    for name, text in shown:
        lines += [_text(f"{name}:", style="dim"), Padding(_text(text or "(nothing)"), (0, 0, 0, 2))]
    return Group(*lines)


def _nth(place: int, written: tuple[str, ...]) -> str:
    return f" ({place + 1} of {len(written)})" if len(written) > 1 else ""


def _said(parsed: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that say something."""
    return {name: value for name, value in parsed.items() if value not in (None, [], {}, "")}


def _marked(found: "Probe") -> Text:
    text = _text(found.text)
    for span in found.spans or ():
        text.stylize("underline bold", span.start, span.end)
    return text


def _spans(found: "Probe") -> RenderableType:
    assert found.spans is not None
    if not found.spans:
        return _text("\nevidence: none", style="bold")
    rows = [(_plain(found.text[s.start : s.end]), s.strength, s.strength, s.label) for s in found.spans]
    table = _table()
    for words, value, share, label in rows:
        table.add_row(_text(words), _text(f"{value:.2f}"), _bar(share), _text(label))
    return Group(_text("\nevidence", style="bold"), table)


def _numbers(said: "Regressed") -> RenderableType:
    """What a regression head gives, on its own scales; how far these go is not known, so there are no bars."""
    table = _table()
    for name, value in said.values.items():
        table.add_row(_text(name), _text(f"{value:.4g}"), _text(""), _text(""))
    cut = "; the text was cut" if said.truncated else ""
    return Group(_text(f"\nnumbers   (as the model's head gives them{cut})", style="bold"), table)


def _bars(title: str, rows: list[tuple[str, float, float]], *, signed: bool = False) -> RenderableType:
    """Args: rows: name, value, and the length of its bar in [0, 1]; signed bars go both ways from the middle."""
    table = _table()
    for name, value, share in rows:
        bar = _signed_bar(value, share) if signed else _bar(share)
        table.add_row(_text(name), _text(f"{value:+.2f}" if signed else f"{value:.3f}"), bar, _text(""))
    return Group(_text(f"\n{title}", style="bold"), table)


def _signed_bar(value: float, share: float) -> Text:
    half = _BAR // 2
    cells = "" if reads_zero(value) else "■" * round(half * min(1.0, share))
    return _text(f"{cells:>{half}}│" if value < 0 else f"{'':{half}}│{cells}")


def _table() -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column("", min_width=14, overflow="fold")
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("", width=_BAR + 1, no_wrap=True)
    table.add_column("")
    return table


def _bar(share: float) -> Text:
    return _text("■" * round(_BAR * min(1.0, max(0.0, share))))


def _notes(found: "Probe") -> RenderableType:
    lines = [f"{name}: {why}" for name, why in found.notes.items() if name not in found.lacking]
    if found.lacking:
        lines.append(f"this model has no {', '.join(found.lacking)}")
    seconds = sum(found.seconds.values())
    lines += [*found.card.notes, f"{seconds:.2f} s in all"]
    return _text("\n" + "\n".join(lines), style="dim")


def _text(text: str, style: str = "") -> Text:
    return Text(_plain(text), style=style)


def _plain(text: str) -> str:
    """Without control characters; as many code points, so that offsets hold."""
    return "".join(each if each.isprintable() or each == "\n" else "\N{REPLACEMENT CHARACTER}" for each in text)


@click.command()
@click.option("--folder", "folders", multiple=True, help="Look for models in this folder too (also: EMOTUI_MODELS).")
@click.option("--server", "servers", multiple=True, help="Ask this server for its models: http://HOST:PORT/v1.")
@click.option("--keep", is_flag=True, help="Look into these folders from now on.")
@db_option
@read_only_option
@json_option
def models(
    folders: tuple[str, ...], servers: tuple[str, ...], keep: bool, db: str | None, read_only: bool, as_json: bool
) -> None:
    """List the models at hand: embedded, the Hugging Face cache, GGUF files and directories, servers that answer.

    Nothing is loaded, and nothing is asked of the network but the servers named. Exit status 1 where a place could not
    be looked into.
    """
    from emotui.workbench.models.discovery import keep_folders, model_folders, models_at_hand

    where = model_folders(folders, db, Waiting(db).tell)
    if keep:
        if not folders:
            raise BadInput("--keep needs a --folder to keep")
        check_may_write(read_only, "--keep")
        keep_folders(where, db, Waiting(db).tell)
    found = models_at_hand(where, servers)
    if as_json:
        print_json({"models": found.models, "folders": [str(path) for path in where], "problems": found.problems})
    else:
        _print_models(found)
    for problem in found.problems:
        say(problem, err=True)
    if found.problems:
        sys.exit(1)


@click.command()
@click.option("--model", "spec", default="embedded", show_default=True, help="The model (SPEC).")
@click.option("--batch", type=click.IntRange(1, 4096), default=8, show_default=True, help="Requests sent at a time.")
@click.option("--seconds", type=FiniteRange(0.1, 600), default=2.0, show_default=True, help="For each figure.")
@click.option("--write", "tokens", type=click.IntRange(1, 4096), default=32, show_default=True, help="Tokens a text.")
@json_option
def bench(spec: str, batch: int, seconds: float, tokens: int, as_json: bool) -> None:
    """Measure a model: tokens a second in and out, scoring, classifying and embedding, load time and memory."""
    from emotui.backends.host import ModelProcess
    from emotui.workbench.models.benchmark import bench as measure

    with steps() as step, ModelProcess(spec) as model:
        found = measure(model, batch=batch, seconds=seconds, write_tokens=tokens, progress=step)
    if as_json:
        print_json(
            {
                "model": found.card.spec,
                "name": found.card.name,
                "batch": found.batch,
                "load_seconds": found.load_seconds,
                "memory_loaded": found.memory_loaded,
                "memory_peak": found.memory_peak,
                "rates": found.rates,
                "notes": found.notes,
                "identity": found.card.identity,
            }
        )
    else:
        _print_bench(found)


@click.command()
@click.option("--texts", "n", type=FiniteRange(1, 1e15), required=True, help="How many there are: 1e8.")
@click.option("--task", type=TaskName(by_kind=True), required=True, help="What is asked about each.")
@click.option("--model", "spec", default="embedded", show_default=True, help="The model (SPEC).")
@click.option("--way", help="How to ask, where there are several ways (docs/models.md).")
@click.option("--labels", "labels_file", type=click.Path(), help="Your own label set: a file, one label a line.")
@click.option("--records", help="Some of the texts (default: a few of emotui's own, of two sentences).")
@click.option(
    "--sample", type=click.IntRange(8, 10**6), default=256, show_default=True, help="How many of them are asked about."
)
@click.option("--bench", "benched", type=click.Path(), help="The model's rates: a file of emotui bench --json.")
@click.option("--rate", type=FiniteRange(0, min_open=True), help="Or texts a second of one copy of the model.")
@click.option("--copies", type=click.IntRange(1, 10**6), default=1, show_default=True, help="Of the model, at once.")
@click.option("--answers", type=click.Path(), help="Answers of another engine (.jsonl), for the size of all.")
@json_option
def scale(
    n: float,
    task: str,
    spec: str,
    way: str | None,
    labels_file: str | None,
    records: str | None,
    sample: int,
    benched: str | None,
    rate: float | None,
    copies: int,
    answers: str | None,
    as_json: bool,
) -> None:
    """What many texts cost, step by step: files, questions, hours of the model, answers, store, merge.

    Some texts go through all of it here, and every figure says of what it was measured or who gave it; all are taken to
    grow as the number of texts does. What is not known has none. Of one copy of a model on another machine: --bench.
    """
    from emotui.workbench.models.scale import Plan, few_texts
    from emotui.workbench.models.scale import scale as measure

    if rate is not None and benched is not None:
        raise BadInput("--bench and --rate both say how fast the model is: leave one out")
    texts = few_texts(records, sample)
    plan = Plan(
        texts=n,
        task=task,
        spec=spec,
        sample=texts,
        own=records is None,
        way=way,
        labels=read_labels(labels_file) if labels_file else None,
        bench=None if benched is None else _benched(benched),
        rate=rate,
        copies=copies,
        answers=None if answers is None else _mean_line(answers),
    )
    with steps() as step:
        costs = measure(plan, step)
    if as_json:
        asked = {"texts": n, "task": task, "model": spec, "way": way, "copies": copies, "sample": len(texts)}
        print_json(asked | {"costs": costs})
    else:
        whose = "texts of emotui's own" if records is None else "of these"
        number = "" if copies == 1 else f"   {copies} copies"
        _print_costs(costs, f"{n:,.0f} texts   {task}   {spec}{number}   by {len(texts):,} {whose}")


def _benched(path: str) -> dict[str, Any]:
    """What `emotui bench --json` wrote. Raises: BadInput for anything else."""
    try:
        found = msgspec.json.decode(read_text(path))
        rates = found["rates"]
        if all(rate["per_second"] > 0 and isinstance(rate["unit"], str) for rate in rates.values()):
            return dict(found)
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError):
        pass
    raise BadInput(f"{literal(path)}: is no document of emotui bench --json")


def _mean_line(path: str) -> float:
    """Mean bytes of the lines of a file."""
    try:
        with Path(path).open("rb") as file:
            sizes = list(map(len, file))
    except (OSError, ValueError) as error:
        raise BadInput(f"{literal(path)}: {getattr(error, 'strerror', None) or error}") from None
    if not sizes:
        raise BadInput(f"{literal(path)}: has no line")
    return sum(sizes) / len(sizes)


def _print_costs(costs: "list[Cost]", title: str) -> None:
    console = terminal()
    console.print(as_written(title, "bold"))
    table = Table(box=None, pad_edge=False)
    for column in ("step", "what"):
        table.add_column(column, no_wrap=True)
    for column in ("a text", "all"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("from where", overflow="fold")
    step = ""
    for cost in costs:
        how = ": ".join(filter(None, (cost.source.replace("unknown", ""), cost.how)))
        cells = (
            "" if cost.step == step else cost.step,
            cost.name,
            *map(_cost, (cost.unit,) * 2, (cost.each, cost.value)),
        )
        table.add_row(*(as_written(cell) for cell in cells), as_written(how, "dim"))
        step = cost.step
    console.print(table)


def _cost(unit: str, value: float | None) -> str:
    """A figure with its unit: bytes by thousands, seconds by hours and days, all else as it is."""
    from rich.filesize import decimal

    if value is None:
        return "–"
    if unit == "bytes":
        return decimal(round(value)) if value >= 1000 else f"{value:.0f} bytes"
    if unit == "seconds":
        for name, many in (("days", 86400 * 3), ("hours", 3600), ("minutes", 120)):
            if value >= many:
                return f"{value / {'days': 86400, 'hours': 3600, 'minutes': 60}[name]:,.1f} {name}"
        return f"{value:.1f} s" if value >= 1 else f"{1000 * value:.2g} ms"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


@contextmanager
def steps() -> Iterator[Callable[[str], None]]:
    """What is being done, in one line of standard error that is gone at the end; nothing where that is no terminal."""

    console = terminal(err=True)
    if not console.is_terminal:
        yield lambda line: None
        return
    with console.status("") as status:
        yield lambda line: status.update(as_written(line))


def probe_document(found: "Probe") -> dict[str, object]:
    card = found.card
    spans = None if found.spans is None else [_span(found.text, span) for span in found.spans]
    words = None
    if found.words is not None:
        drops = [{"start": s, "end": e, "word": found.text[s:e], "drop": drop} for s, e, drop in found.words.words]
        words = {"label": found.words.label, "words": drops}
    masks = None if found.masks is None else [[list(pair) for pair in mask] for mask in found.masks.masks]
    return {
        "model": card.spec,
        "name": card.name,
        "capabilities": card.capabilities,
        "text": found.text,
        "spans": spans,
        "classes": found.classes,
        "numbers": found.numbers,
        "emotions": found.emotions,
        "words": words,
        "masks": masks,
        "prompt": found.prompt if found.generation is not None else None,
        "generation": found.generation,
        "embedding": found.embedding,
        "tasks": found.tasks,
        "seconds": found.seconds,
        "notes": found.notes,
        "model_notes": card.notes,
    }


def _span(text: str, span: object) -> dict[str, object]:
    from emotui.backends.base import Evidence

    assert isinstance(span, Evidence)
    return {
        "start": span.start,
        "end": span.end,
        "text": text[span.start : span.end],
        "label": span.label,
        "strength": span.strength,
    }


def _print_models(found: "Found") -> None:
    from rich.filesize import decimal
    from rich.table import Table

    here = f":{Path.cwd()}/"
    table = Table(box=None, pad_edge=False)
    table.add_column("model (SPEC)", overflow="fold")
    for column in ("size", "quantised", "context"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("can")
    for model in found.models:
        size = "–" if model.size is None else decimal(model.size)
        context = "–" if model.context is None else f"{model.context:,}"
        able = ", ".join(each.replace("_", " ") for each in model.capabilities) or "told when it loads"
        last = as_written(able) if model.problem is None else as_written(f"! {model.problem}", "bold")
        cells = (model.spec.replace(here, ":"), size, model.quantisation or "–", context)
        table.add_row(*(as_written(cell) for cell in cells), last)
    terminal().print(table)


def _print_bench(found: "Bench") -> None:
    from rich.filesize import decimal
    from rich.table import Table

    console = terminal()
    console.print(as_written(f"{found.card.spec}   {found.card.name}   batches of {found.batch}", "bold"))
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column("")
    table.add_column("", justify="right")
    table.add_column("")
    table.add_row("loaded in", f"{found.load_seconds:.1f}", "s")
    for name, rate in found.rates.items():
        shown = f"{rate.per_second:,.0f}" if rate.per_second >= 100 else f"{rate.per_second:.1f}"
        table.add_row(name, shown, f"{rate.unit} a second ({rate.count:,} in {rate.seconds:.1f} s)")
    for name, size in (("memory when loaded", found.memory_loaded), ("memory at its peak", found.memory_peak)):
        value, _, unit = ("–", "", "") if size is None else decimal(size).partition(" ")
        table.add_row(name, value, unit)
    console.print(table)
    for name, why in found.notes.items():
        console.print(as_written(f"{name}: {why}", "dim"))
