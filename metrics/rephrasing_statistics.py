"""What rephrasing does to texts: the figures of section 4 and appendix B over chains, as columns side by side.

A column is a set of texts: the originals that the model got right (`original`), those that it got wrong
(`T_incorrect`), automatic variants by their names (BT-1, BT-10), the k-th rephrasings (`R1` to `R4`), and the last one
of every chain that succeeded (`successful`, the paper's T^R).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from emotui.errors import BadInput
from emotui.metrics.lexical import Lexical, Lexicon, category_shares, lexical
from emotui.metrics.rephrasings import ROUNDS, closing, is_right, kth_rephrasings, succeeded_at, tried
from emotui.metrics.word_distributions import SMOOTHING, kl_divergence, word_counts
from emotui.records import Chain

COLUMNS = ("original", "T_incorrect", *(f"R{k}" for k in range(1, ROUNDS + 1)), "successful")
"""Those that are always there; variants have other names."""

DIRECTION = "D(original || column), in nats: how badly the column's words would tell those of the originals"
"""Of `kl`; `kl_reverse` is the other way round."""

_NOT_COMPARED = {
    "original": "the other columns are compared with it",
    "T_incorrect": "nothing stands for these texts that could be compared with them",
}
"""Why these columns have no divergence."""


def statistics_report(
    chains: Sequence[Chain],
    lexicon: Lexicon,
    variants: Mapping[str, Mapping[str, str]] | None = None,
    *,
    smoothing: float = SMOOTHING,
) -> dict[str, Any]:
    """The document of `emotui rephrasings statistics`.

    Args:
        variants: name to (id to text), further columns; of right originals, as the paper's figures are of T_correct.
            `notes` say how many of wrong ones were given too.

    Returns:
        `n`, `t_correct`, `t_incorrect` (counts), `rephrasings` (how many were written), `mean_rephrasings` (over
        T_correct, as the paper counts: 6,104 rephrasings are 1.82 a sample), `mean_rephrasings_begun` (over the chains
        with one at least), `needed` (by number of attempts, the chains that succeeded with so many), `failed`,
        `skipped`, `open`, `suggested` (attempts that a model wrote), `columns` and `notes`. A column has `n`,
        `kl`, `kl_reverse` (both against the originals of its own texts; None for `original` and `T_incorrect`),
        `mean_explicit_words`, `explicit`, `implicit`, `misleading`, `negated` (shares), `mean_words`.

    Raises:
        BadInput: a variant of an id that no chain has, a line each beginning with the name and the id.
    """
    right = [chain for chain in chains if is_right(chain)]
    by_id = {chain.id: chain for chain in right}
    columns: dict[str, list[tuple[Chain, str]]] = {
        "original": [(chain, chain.text) for chain in right],
        "T_incorrect": [(chain, chain.text) for chain in chains if not is_right(chain)],
    }
    known = {chain.id for chain in chains}
    texts_of = variants or {}
    strays = [f"{name}: {key}: no chain has this id" for name in texts_of for key in texts_of[name] if key not in known]
    if strays:
        raise BadInput(*strays)
    notes: dict[str, str] = {"kl": f"{DIRECTION}; over the words of both, with {smoothing:g} added to each count"}
    for name, texts in texts_of.items():
        columns[name] = [(by_id[key], text) for key, text in texts.items() if key in by_id]
        if not columns[name]:
            notes[f"columns.{name}"] = "it has no variant of a text that the classifier got right"
        elif unused := len(texts) - len(columns[name]):
            notes[f"columns.{name}"] = (
                f"{unused} of {len(texts)} variants are of texts that the classifier got wrong, and are not used here"
            )
    for k in range(1, ROUNDS + 1):
        columns[f"R{k}"] = kth_rephrasings(chains, k)
    columns["successful"] = [(one, one.attempts[at - 1].text) for one in right if (at := succeeded_at(one)) is not None]
    begun = [len(tried(chain)) for chain in right if chain.attempts]
    if not begun:
        notes["mean_rephrasings_begun"] = "nothing was rephrased"
    if not right:
        notes["mean_rephrasings"] = "the classifier got no original right"
    ends = [closing(chain) for chain in right]
    return {
        "n": len(chains),
        "t_correct": len(right),
        "t_incorrect": len(chains) - len(right),
        "rephrasings": sum(begun),
        "mean_rephrasings": sum(begun) / len(right) if right else None,
        "mean_rephrasings_begun": sum(begun) / len(begun) if begun else None,
        "needed": {str(k): sum(succeeded_at(chain) == k for chain in right) for k in range(1, ROUNDS + 1)},
        **{end: ends.count(end) for end in ("failed", "skipped", "open")},
        "suggested": sum(attempt.suggested for chain in right for attempt in tried(chain)),
        "columns": {name: _column(name, texts, lexicon, smoothing, notes) for name, texts in columns.items()},
        "notes": notes,
    }


def _column(
    name: str, texts: Sequence[tuple[Chain, str]], lexicon: Lexicon, smoothing: float, notes: dict[str, str]
) -> dict[str, Any]:
    found: list[Lexical] = []
    for chain, text in texts:
        try:
            found.append(lexical(text, chain.label, lexicon))
        except ValueError as problem:
            notes["categories"] = f"texts are left out: {problem}"
    if not texts:
        notes.setdefault(f"columns.{name}", "there is no text")
    kl = reverse = None
    if texts and name in _NOT_COMPARED:
        notes[f"columns.{name}.kl"] = _NOT_COMPARED[name]
    elif texts:
        originals, others = word_counts(chain.text for chain, _ in texts), word_counts(text for _, text in texts)
        kl, reverse = kl_divergence(originals, others, smoothing), kl_divergence(others, originals, smoothing)
        if kl is None:
            notes[f"columns.{name}.kl"] = "one side has no word"
    n = len(found)
    return {
        "n": len(texts),
        "kl": kl,
        "kl_reverse": reverse,
        "mean_explicit_words": sum(one.explicit_words for one in found) / n if n else None,
        **category_shares(found),
        "negated": sum(one.negated for one in found) / n if n else None,
        "mean_words": word_counts(text for _, text in texts).total() / len(texts) if texts else None,
    }
