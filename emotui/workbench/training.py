"""Training a classifier of one's own."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from emotui.backends.base import OnStep
from emotui.backends.tuning.recipe import Example, Recipe
from emotui.backends.words import word_places
from emotui.errors import BadInput
from emotui.formats import Read, capped, fingerprint, read
from emotui.formats.reading import Warn, warn_skipped
from emotui.installing import check_transformers
from emotui.lexicons import emolex
from emotui.metrics.rephrasing_splits import folded, sharing_a_text
from emotui.records import Chain, ClassGold, Text

# Fine-tune a classifier on files of the person's own: read, check, split, train, one folder a seed.

# Setting examples aside for dev so that an original and its rephrasings never part and training keeps every label.


def split(examples: Sequence[Example], share: float) -> tuple[list[Example], list[Example]]:
    """Set about `share` of the examples of each label aside, for dev.

    An example goes with all its rephrasings, and examples that have a text in common (be it the original or a
    rephrasing, apart from case and white space) go together. Who is set aside follows from ids alone, so that trainings
    with several seeds share one dev set. A label keeps at least one example for training.

    Args:
        share: in [0, 1).

    Returns:
        Those to train on and those set aside, both in their order.
    """
    aside: set[int] = set()
    wanted = {label: round(share * count) for label, count in _counts(examples).items()}
    left = _counts(examples)
    groups = sharing_a_text([_texts(example) for example in examples])
    for group in sorted(groups, key=lambda group: _lot(min(examples[number].id for number in group))):
        counts = _counts([examples[number] for number in group])
        if all(wanted[label] >= count and left[label] > count for label, count in counts.items()):
            aside.update(group)
            for label, count in counts.items():
                wanted[label] -= count
                left[label] -= count
    kept = [example for number, example in enumerate(examples) if number not in aside]
    return kept, [example for number, example in enumerate(examples) if number in aside]


def shared_texts(examples: Sequence[Example], others: Sequence[Example]) -> int:
    """How many of `others` have a text that is also one of `examples`, original or rephrasing."""
    known = {text for example in examples for text in _texts(example)}
    return sum(not known.isdisjoint(_texts(other)) for other in others)


def _texts(example: Example) -> set[str]:
    return {folded(text) for text in (example.text, *example.rephrasings)}


def _counts(examples: Sequence[Example]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for example in examples:
        counts[example.label] = counts.get(example.label, 0) + 1
    return counts


def _lot(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class TrainingFiles:
    """What to learn from. `train`, `dev`: class, gold. `rephrasings`: chains whose originals are in `train`, by id.
    `emlm`: records of any kind with texts. `dev_share`: set aside of `train` where there is no `dev`."""

    train: str
    rephrasings: str | None = None
    dev: str | None = None
    dev_share: float = 0.0
    emlm: str | None = None


@dataclass(frozen=True, slots=True)
class Material:
    """The files, read and checked. `sources`: for each file its name, its number of records and their fingerprint."""

    examples: list[Example]
    dev: list[Example]
    emlm_texts: list[str]
    sources: dict[str, Any]
    notes: tuple[str, ...]


def train_classifier(
    base: str,
    files: TrainingFiles,
    to: str,
    recipe: Recipe,
    *,
    seeds: int = 1,
    online: bool = False,
    resume: bool = False,
    skip_bad: bool = False,
    warn: Warn,
    progress: OnStep = lambda what, done, n: None,
    stopping: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Train one classifier for each of `seeds` seeds from `recipe.seed` on, in `to` or, of several, in `to/seed-N`.

    Returns:
        `spec`: `NAME=hf:DIR,hf:DIR`, as an evaluation over seeds takes it; `models`: for each its `folder` and what
        its `training.json` holds; `notes`.

    Raises:
        BadInput: a file is bad, or the files do not fit together; one line a problem.
        ModelError: the base cannot be used.
        Interrupted: stopped; what was done is kept.
    """
    material = read_material(files, skip_bad=skip_bad, warn=warn)
    progress("starting torch and transformers", 0, 1)
    check_transformers("training needs more than emotui brings", "train")
    from emotui.backends.tuning.classifier import look, train

    target = Path(to)
    all_seeds = range(recipe.seed, recipe.seed + seeds)
    folders = {seed: target if seeds == 1 else target / f"seed-{seed}" for seed in all_seeds}
    for folder in folders.values():
        look(folder, resume)  # one that is taken is told before hours are spent on those before it
    models = []
    for seed, folder in folders.items():
        done = train(
            base,
            material.examples,
            material.dev,
            folder,
            replace(recipe, seed=seed),
            sources=material.sources,
            emlm_texts=material.emlm_texts,
            emotion_words=emolex().keys() if material.emlm_texts else frozenset(),
            online=online,
            resume=resume,
            progress=progress if seeds == 1 else _with_seed(progress, seed),
            stopping=stopping,
        )
        models.append({"folder": str(folder), **done})
    notes = [*material.notes, *_cut(models)]
    name = "".join("_" if sign in ":#=," else sign for sign in target.resolve().name)
    return {
        "spec": f"{name}={','.join('hf:' + model['folder'] for model in models)}",
        "models": models,
        "notes": notes,
    }


def read_material(files: TrainingFiles, *, skip_bad: bool = False, warn: Warn) -> Material:
    """Read the files of a training and see that they fit together.

    Chains are matched to the originals by id, and must hold the same text and label. A chain whose original is not in
    `train` is bad input: its rephrasings would be learnt from without a gold label (with `skip_bad` it is left out).

    Raises:
        BadInput: one line a problem.
    """
    golds = read(files.train, ClassGold, skip_bad=skip_bad)
    warn_skipped(golds, warn)
    _check_texts(files.train, golds, skip_bad=skip_bad, warn=warn)
    sources: dict[str, Any] = {"train": _source(files.train, golds)}
    notes = []
    rephrasings: dict[str, tuple[str, ...]] = {}
    if files.rephrasings is not None:
        chains = read(files.rephrasings, Chain, skip_bad=skip_bad)
        warn_skipped(chains, warn)
        rephrasings = _rephrasings(files, golds, chains, skip_bad=skip_bad, warn=warn)
        sources["rephrasings"] = _source(files.rephrasings, chains)
        if not any(rephrasings.values()):
            notes.append(f"{files.rephrasings} holds no rephrasing: training is plain cross-entropy")
    examples = _examples(golds.records, rephrasings)
    _check_labels(files.train, {example.label for example in examples})
    dev: list[Example] = []
    if files.dev is not None:
        held = read(files.dev, ClassGold, skip_bad=skip_bad)
        warn_skipped(held, warn)
        dev = _dev(files, held, {example.label for example in examples}, skip_bad=skip_bad, warn=warn)
        sources["dev"] = _source(files.dev, held)
        if shared := shared_texts(examples, dev):
            notes.append(f"{shared} of {len(dev)} texts of {files.dev} are learnt from too: its figures flatter")
    elif files.dev_share:
        examples, dev = split(examples, files.dev_share)
        sources["dev_share"] = files.dev_share
        if not dev:
            raise BadInput(f"--dev-share {files.dev_share} sets no record of {files.train} aside: there are too few")
    texts: list[str] = []
    if files.emlm is not None:
        found = read(files.emlm, Text, skip_bad=skip_bad)
        warn_skipped(found, warn)
        texts = [record.text for record in found.records if record.text.strip()]
        if not texts:
            raise BadInput(f"{files.emlm}:1: every text is empty")
        sources["emlm"] = _source(files.emlm, found)
        if not any(_emotional(text) for text in texts):
            notes.append(
                f"{files.emlm} holds no word of EmoLex: eMLM hides words as plain masked-language training does"
            )
    return Material(examples, dev, texts, sources, tuple(notes))


def _emotional(text: str) -> bool:
    return any(text[start:end].lower() in emolex() for start, end in word_places(text))


def _examples(golds: Sequence[ClassGold], rephrasings: dict[str, tuple[str, ...]]) -> list[Example]:
    return [
        Example(gold.id, gold.text, gold.label, rephrasings.get(gold.id, ()))
        for gold in golds
        if gold.text.strip() and gold.label is not None
    ]


def _check_texts(path: str, golds: Read[ClassGold], *, skip_bad: bool, warn: Warn) -> None:
    empty = [
        f"{path}:{line}: the text of {gold.id!r} is empty"
        for gold, line in zip(golds.records, golds.lines, strict=True)
        if not gold.text.strip()
    ]
    _refuse(empty, skip_bad=skip_bad, warn=warn)


def _check_labels(path: str, labels: set[str]) -> None:
    if len(labels) < 2:
        (only,) = labels or {""}
        raise BadInput(f"{path}:1: every record has the label {only!r}: a classifier needs two labels")


def _rephrasings(
    files: TrainingFiles, golds: Read[ClassGold], chains: Read[Chain], *, skip_bad: bool, warn: Warn
) -> dict[str, tuple[str, ...]]:
    """Id to the rephrasings of it, each once and none equal to the original."""
    known = {gold.id: (gold, line) for gold, line in zip(golds.records, golds.lines, strict=True)}
    problems = []
    found: dict[str, dict[str, None]] = {}
    for chain, line in zip(chains.records, chains.lines, strict=True):
        why = ""
        if chain.id not in known:
            why = f"no record of {files.train} has the id {chain.id!r}"
        elif chain.text != known[chain.id][0].text:
            why = f"the original of {chain.id!r} is another text than on line {known[chain.id][1]} of {files.train}"
        elif chain.label != known[chain.id][0].label:
            gold, place = known[chain.id]
            why = f"the label of {chain.id!r} is {chain.label!r}, but {gold.label!r} on line {place} of {files.train}"
        else:
            blank = (place for place, attempt in enumerate(chain.attempts, 1) if not attempt.text.strip())
            if (hole := next(blank, None)) is not None:
                why = f"attempt {hole} of {chain.id!r} is empty"
        if why:
            problems.append(f"{files.rephrasings}:{line}: {why}")
            continue
        texts = found.setdefault(chain.id, {})
        texts.update(dict.fromkeys(attempt.text for attempt in chain.attempts if attempt.text != chain.text))
    _refuse(problems, skip_bad=skip_bad, warn=warn)
    return {name: tuple(texts) for name, texts in found.items()}


def _dev(files: TrainingFiles, held: Read[ClassGold], labels: set[str], *, skip_bad: bool, warn: Warn) -> list[Example]:
    strange = [
        f"{files.dev}:{line}: the label {gold.label!r} is in no record of {files.train}"
        for gold, line in zip(held.records, held.lines, strict=True)
        if gold.label not in labels
    ]
    _refuse(strange, skip_bad=skip_bad, warn=warn)
    dev = [Example(gold.id, gold.text, gold.label) for gold in held.records if gold.label in labels]
    if not dev:
        raise BadInput(f"{files.dev}:1: no record has a label of {files.train}")
    return dev


def _refuse(problems: list[str], *, skip_bad: bool, warn: Warn) -> None:
    if problems and not skip_bad:
        raise BadInput(*capped(problems))
    for problem in problems:
        warn(f"skipped {problem}")


def _source(path: str, got: Read[Any]) -> dict[str, Any]:
    return {"file": Path(path).name, "n": len(got.records), "fingerprint": fingerprint(got.records)}


def _cut(models: Sequence[dict[str, Any]]) -> list[str]:
    """What there is to say about long texts; it is the same for all seeds."""
    cut, limit = models[0]["truncated"], models[0]["max_length"]
    if not cut:
        return []
    return [f"{cut} text{'s are' if cut > 1 else ' is'} longer than {limit} tokens: what comes after was cut off"]


def _with_seed(progress: OnStep, seed: int) -> OnStep:
    return lambda what, done, n: progress(f"seed {seed}: {what}", done, n)
