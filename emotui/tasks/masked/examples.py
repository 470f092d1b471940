"""The examples that few-shot prompts show about a masked text: four drawn, or the four nearest (EXPRESS, "Setup").

An example has as many masks as the target, and is neither the target, nor a segment of its post, nor the same text. The
paper says Euclidean distance in one place and cosine in another: over unit vectors both rank alike, and the distance
that is told is the Euclidean one.
"""

import hashlib
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from emotui.bounded import read_bytes
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.records import MaskedGold

if TYPE_CHECKING:
    import numpy as np

SHOTS = 4
_ROWS = 256
"""Targets whose distances are computed at once."""


class Example(msgspec.Struct, frozen=True, omit_defaults=True):
    """A text with the words behind its masks; `distance`: from the target, where examples are chosen by it."""

    id: str
    text: str
    labels: tuple[str, ...]
    distance: float | None = None


class Examples(msgspec.Struct, frozen=True):
    """The examples about one target, the nearest first."""

    id: str
    examples: tuple[Example, ...]


class ExampleFile(msgspec.Struct, frozen=True):
    """A file of `Examples`, one a line, as a run names it: it must not change while the run can be resumed."""

    path: str
    sha256: str


def post_of(sample: MaskedGold) -> str:
    """The post that a text is, or is a segment of."""
    return str(sample.meta.get("post", sample.id))


def random_examples(
    targets: Sequence[MaskedGold], pool: Sequence[MaskedGold], seed: int = 0, shots: int = SHOTS
) -> list[Examples]:
    """Drawn for each target anew, by its id and the seed: the order of targets does not matter."""
    counted = _by_masks(pool)
    found = []
    for target in targets:
        source = random.Random(f"{seed} {target.id}")
        rows = counted[len(target.labels)]
        order = source.sample(range(len(rows)), min(len(rows), shots + _RESERVE))
        usable = [rows[at] for at in order if _is_other(target, rows[at])]
        if len(usable) < shots < len(order):  # many segments of one post
            usable = [row for row in source.sample(rows, len(rows)) if _is_other(target, row)]
        found.append(Examples(target.id, tuple(_example(row) for row in usable[:shots])))
    return found


_RESERVE = 20
"""Drawn beyond the shots, for those that are of the target's own post."""


class Pool:
    """Texts that examples are taken from, with their vectors: by how many masks they have, each in one block."""

    def __init__(self, samples: Sequence[MaskedGold], vectors: "np.ndarray") -> None:
        """`vectors`: (n, d) float32, of length 1 each."""
        import numpy as np

        self.samples = samples
        self._places = {masks: np.asarray(numbers, np.int64) for masks, numbers in _places(samples).items()}
        self._vectors = {
            masks: np.ascontiguousarray(vectors[places], np.float32) for masks, places in self._places.items()
        }

    def nearest(self, targets: Sequence[MaskedGold], vectors: "np.ndarray", shots: int = SHOTS) -> list[Examples]:
        """The nearest of each target, exactly; of equally near ones the first of the pool.

        Args:
            targets: of one number of masks.
            vectors: (n, d), of length 1 each.
        """
        import numpy as np

        masks = len(targets[0].labels)
        if masks not in self._places:
            return [Examples(target.id, ()) for target in targets]
        cosines = vectors @ self._vectors[masks].T
        places = self._places[masks]
        # A text that was not embedded (NaN) is the nearest of none, and has none.
        near = np.where(np.isnan(cosines), -np.inf, cosines)
        return [_nearest(target, self.samples, places, row, shots) for target, row in zip(targets, near, strict=True)]


def nearest_examples(
    targets: Sequence[MaskedGold],
    pool: Sequence[MaskedGold],
    target_vectors: "np.ndarray",
    pool_vectors: "np.ndarray",
    shots: int = SHOTS,
) -> list[Examples]:
    """The nearest of each target in the pool, as `Pool.nearest`, in the order of the targets.

    Args:
        target_vectors, pool_vectors: (n, d), of length 1 each.
    """
    there = Pool(pool, pool_vectors)
    found: dict[int, Examples] = {}
    for numbers in _places(targets).values():
        for start in range(0, len(numbers), _ROWS):
            rows = numbers[start : start + _ROWS]
            near = there.nearest([targets[number] for number in rows], target_vectors[rows], shots)
            found |= dict(zip(rows, near, strict=True))
    return [found[number] for number in range(len(targets))]


def _nearest(
    target: MaskedGold, pool: Sequence[MaskedGold], there: "np.ndarray", cosines: "np.ndarray", shots: int
) -> Examples:
    import numpy as np

    reach = min(len(there), shots + _RESERVE)
    while True:
        # All that are at least as near as the last one within reach, so that ties are settled by the pool's order.
        within = np.argpartition(cosines, len(cosines) - reach)[len(cosines) - reach :]
        near = np.flatnonzero(cosines >= cosines[within].min())
        order = near[np.argsort(-cosines[near], kind="stable")]
        usable = [at for at in order if cosines[at] > -np.inf and _is_other(target, pool[there[at]])][:shots]
        if len(usable) == shots or reach == len(there):
            break
        reach = len(there)
    told = [(pool[there[at]], float(np.sqrt(max(0.0, 2 - 2 * float(cosines[at]))))) for at in usable]
    return Examples(target.id, tuple(_example(sample, round(distance, 6)) for sample, distance in told))


def example_file(path: str) -> ExampleFile:
    """A file as a run names it. Raises BadInput where it cannot be read, or is no file of examples; with the line."""
    named = ExampleFile(path, hashlib.sha256(_bytes(path)).hexdigest())
    loaded(named)
    return named


@lru_cache(maxsize=2)
def loaded(file: ExampleFile) -> Mapping[str, tuple[Example, ...]]:
    """The examples by the target's id. Raises BadInput where the file has changed."""
    content = _bytes(file.path)
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise BadInput(f"{literal(file.path)}: these examples are not those that the run began with")
    found = {}
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            row = msgspec.json.decode(line, type=Examples)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            why = "not a line that `emotui masked examples` writes"
            raise BadInput(f"{literal(file.path)}:{number}: {why} ({error})") from None
        found[row.id] = row.examples
    return found


def _bytes(path: str) -> bytes:
    try:
        return read_bytes(path)
    except OSError as error:
        raise BadInput(f"{literal(path)}: {error.strerror or error}") from error


def _by_masks(pool: Sequence[MaskedGold]) -> dict[int, list[MaskedGold]]:
    found: dict[int, list[MaskedGold]] = defaultdict(list)
    for sample in pool:
        found[len(sample.labels)].append(sample)
    return found


def _places(samples: Sequence[MaskedGold]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for number, sample in enumerate(samples):
        found[len(sample.labels)].append(number)
    return found


def _is_other(target: MaskedGold, sample: MaskedGold) -> bool:
    return sample.id != target.id and post_of(sample) != post_of(target) and sample.text != target.text


def _example(sample: MaskedGold, distance: float | None = None) -> Example:
    return Example(sample.id, sample.text or "", tuple(word.strip().lower() for word in sample.labels), distance)
