"""Texts that are nearest to one, by the embeddings of a model; vectors are kept, so that a text is embedded once."""

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from emotui.errors import BadInput
from emotui.store.store import Store
from emotui.workbench.models.kept_embeddings import kept_embeddings

if TYPE_CHECKING:
    from emotui.backends.host import ModelProcess

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
    read = [(number, decode(record)) for number, record in store.dataset_samples(dataset)]
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
