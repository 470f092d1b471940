"""Texts that are nearest to one, by the embeddings of a model; vectors are kept, so that a text is embedded once."""

import hashlib
from collections.abc import Sequence

import msgspec
import numpy as np

from emotui.backends.host import ModelProcess
from emotui.errors import BadInput
from emotui.store.store import Store
from emotui.tasks.asking import BATCH, embedded

# Embeddings of texts that are kept in the store: a model embeds a text once.


def kept_embeddings(model: ModelProcess, texts: Sequence[str], store: Store | None = None) -> "np.ndarray":
    """Vectors of length 1, of the texts in their order; those that the store has are taken from it, others kept.

    Args:
        model: loaded here; what changes its outputs tells its vectors from others'.
        store: None: nothing is kept. One that is read only is only read.

    Returns:
        (n, d) float32; of NaN for a text that the model did not finish, which is not kept.

    Raises:
        ModelError: it cannot be loaded, or cannot embed.
        StoreError: the store cannot be used.
    """
    import numpy as np

    card = model.load()
    if store is None:
        return _unit(embedded(model, texts))
    name = hashlib.sha256(msgspec.json.encode(card.identity, order="sorted")).hexdigest()
    digests = [hashlib.sha256(text.encode()).hexdigest()[:32] for text in texts]
    by_digest = dict(zip(digests, texts, strict=True))
    kept = store.embeddings.known(name, list(by_digest))
    lacking = [digest for digest in by_digest if digest not in kept]
    for start in range(0, len(lacking), BATCH):
        some = lacking[start : start + BATCH]
        made = _unit(embedded(model, [by_digest[digest] for digest in some]))
        new = {digest: vector.tobytes() for digest, vector in zip(some, made, strict=True)}
        kept |= new
        if not store.read_only:
            whole = {digest for digest, vector in zip(some, made, strict=True) if np.isfinite(vector).all()}
            store.embeddings.keep(name, {digest: vector for digest, vector in new.items() if digest in whole})
    joined = b"".join(kept[digest] for digest in digests)
    return np.frombuffer(joined, np.float32).reshape(len(digests), -1) if digests else np.zeros((0, 1), np.float32)


def _unit(vectors: "np.ndarray") -> "np.ndarray":
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: np.ndarray = (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)
    return found


TEN = 10


class Near(msgspec.Struct, frozen=True):
    """A sample and the cosine of its text with the one that was asked about."""

    sample: int
    id: str
    text: str
    cosine: float


class _Text(msgspec.Struct):
    id: str
    text: str | None = None


def nearest_texts(store: Store, dataset: int, sample: int, model: "ModelProcess", n: int = TEN) -> list[Near]:
    """The samples of a dataset whose texts are nearest to a sample's, the nearest first; without the sample itself.

    Raises:
        BadInput: the sample has no text, or none other has one.
        ModelError: the model cannot be loaded, or cannot embed.
    """
    decode = msgspec.json.Decoder(_Text).decode
    read = [(number, decode(record)) for number, record in store.samples.of_dataset(dataset)]
    known = [(number, one.id, one.text) for number, one in read if one.text]
    numbers = [number for number, _, _ in known]
    if sample not in numbers:
        raise BadInput("this sample has no text to look for others by")
    if len(known) < 2:
        raise BadInput("no other sample has a text")
    vectors = kept_embeddings(model, [text for _, _, text in known], store)
    here = numbers.index(sample)
    cosines = vectors @ vectors[here]
    if np.isnan(cosines[here]):
        raise BadInput("the model that embeds did not finish this text")
    order = [at for at in np.argsort(-cosines, kind="stable").tolist() if at != here and not np.isnan(cosines[at])][:n]
    found = []
    for at in order:
        number, key, text = known[at]
        found.append(Near(number, key, text, float(cosines[at])))
    return found
