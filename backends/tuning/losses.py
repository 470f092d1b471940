"""The loss of hard emotion test sets (section 5.1): cross-entropy on originals plus a pairwise KL over rephrasings.

For a batch B of originals t_i with gold labels e_i, and B' those of B that have rephrasings:

    L    = L_CE + w * L_KL
    L_CE = sum over i in B of CE(M(t_i), e_i)
    L_KL = sum over i in B' of D_i
    D_i  = sum over j from 0 to n_i, sum over k from j to n_i, of KL(M(t_ij), M(t_ik))
    KL(p, q) = sum over labels c of p(c) * log(p(c) / q(c))          (natural logarithm)

M(t) is the softmax over the labels, t_i1 ... t_in are the rephrasings in the order of their attempts, and w is 1 in the
paper. The paper counts its rephrasings from 1 but its sums from 0: t_i0 is read as the original, so that one rephrasing
already makes a pair. The earlier text of a pair stands left, as the sum has it; the pairs of a text with itself add 0.
Both sides of a pair are learnt from. Other readings by name:

    mean        D_i divided by its number of pairs: an example with many rephrasings weighs as much as one with few
    symmetric   each pair gives (KL(p, q) + KL(q, p)) / 2: the order of the attempts does not matter
    none        D_i = 0: plain cross-entropy on the originals

The paper draws B' as a batch of its own; here an original and its rephrasings are always in one step, so that M(t_i0)
is the very distribution that the cross-entropy sees.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def pairwise_kl(log_probs: Tensor, kind: str = "sum") -> Tensor:
    """D_i of one example.

    Args:
        log_probs: (texts, labels), the original first; natural logarithms.
        kind: `sum`, `mean` or `symmetric`.

    Returns:
        One number, 0 or more; 0 for fewer than two texts.
    """
    count = len(log_probs)
    if count < 2:
        return log_probs.sum() * 0.0
    left, right = torch.triu_indices(count, count, offset=1, device=log_probs.device)
    total = _divergence(log_probs[left], log_probs[right]).sum()
    if kind == "symmetric":
        return (total + _divergence(log_probs[right], log_probs[left]).sum()) / 2
    return total / len(left) if kind == "mean" else total


def _divergence(p: Tensor, q: Tensor) -> Tensor:
    """KL of each row of `p` from the same row of `q`, both as logarithms."""
    return (p.exp() * (p - q)).sum(-1)


def cross_entropy(log_probs: Tensor, gold: Tensor, weights: Tensor | None = None) -> Tensor:
    """L_CE. Args: log_probs: (n, labels). gold: (n,) label numbers. weights: (labels,), all 1 by default."""
    picked = -log_probs.gather(1, gold[:, None])[:, 0]
    return (picked if weights is None else picked * weights[gold]).sum()


def terms(
    logits: Tensor,
    gold: Tensor,
    groups: Sequence[Sequence[int]],
    kind: str = "sum",
    weights: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """(L_CE, L_KL) of a batch.

    Args:
        logits: (n + rephrasings, labels): the n originals, then whatever rephrasings they have.
        gold: (n,) label numbers of the originals.
        groups: for each example of B' the rows of its texts, in order.
        kind: one of `KL_TERMS`.
        weights: of the labels, for L_CE.
    """
    log_probs = logits.log_softmax(-1)
    ce = cross_entropy(log_probs[: len(gold)], gold, weights)
    kl = logits.sum() * 0.0
    if kind != "none":
        for rows in groups:
            kl = kl + pairwise_kl(log_probs[list(rows)], kind)
    return ce, kl
