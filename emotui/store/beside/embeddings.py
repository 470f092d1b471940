"""Vectors of texts, by what embedded them: a text is embedded once."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emotui.store.access import Access


class EmbeddingTable:
    """Every method is one short transaction; safe across threads. Vectors are bytes, as their owner wrote them."""

    def __init__(self, turns: "Access") -> None:
        self._turns = turns

    def known(self, model: str, digests: Sequence[str]) -> dict[str, bytes]:
        """By digest the vectors that a model has made of these texts."""
        with self._turns.reading() as connection:
            found = connection.execute(
                "select digest, vector from embeddings where model = ? and digest in (select unnest(?))",
                [model, list(digests)],
            ).fetchall()
        return dict(found)

    def keep(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors of a model by their texts' digests. What is known already stays as it is."""
        if not vectors:
            return
        with self._turns.writing() as connection:
            there = connection.execute(
                "select digest from embeddings where model = ? and digest in (select unnest(?))",
                [model, list(vectors)],
            ).fetchall()
            known = {digest for (digest,) in there}
            appender = connection.appender("embeddings")
            appender.append_rows((model, digest, vector) for digest, vector in vectors.items() if digest not in known)
            appender.flush()
