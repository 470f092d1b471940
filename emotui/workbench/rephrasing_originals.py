"""What a classifier says to every original, asked once and kept: T_correct and T_incorrect (section 3, Setup)."""

import time
from collections.abc import Mapping

from emotui.backends.host import IsCancelled
from emotui.records import ClassGold
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.workbench.rephrasing_classifier import Frozen
from emotui.workbench.rephrasing_views import Original
from emotui.workbench.running import OnProgress, RunProgress

BATCH = 64


def classified(
    store: Store,
    dataset: Dataset,
    samples: Mapping[int, ClassGold],
    classifier: Frozen,
    on_progress: OnProgress,
    cancelled: IsCancelled | None,
) -> dict[int, Original]:
    """By number, in file order. What this classifier has said before is not asked again.

    Raises:
        ModelError: the model died, or refuses a text.
        Cancelled: `cancelled()` became true; what was classified by then is kept.
    """
    kept = verdicts_kept(store, dataset, classifier.identity)
    # A verdict that came with a file of chains has no confidence.
    known = {number: (label, confidence) for number, (label, confidence) in kept.items() if confidence is not None}
    missing = [number for number in samples if number not in known]
    started = time.monotonic()
    try:
        for start in range(0, len(missing), BATCH):
            numbers = missing[start : start + BATCH]
            found = classifier.verdicts([samples[number].text for number in numbers], cancelled)
            for number, verdict in zip(numbers, found, strict=True):
                gold = classifier.asked.known(samples[number].label)
                known[number] = (verdict.label, verdict.probs[gold or verdict.label])
            done = start + len(numbers)
            rate = done / max(time.monotonic() - started, 1e-9)
            left = (len(missing) - done) / rate
            on_progress(
                RunProgress("", classifier.card.spec, done, len(missing), 0, rate, left, "classifying the originals")
            )
    finally:
        if missing and not store.read_only:
            keep_verdicts(store, dataset, classifier.identity, kept | known)
    return {
        number: Original(sample, classifier.asked.known(sample.label) or sample.label, *known[number])
        for number, sample in samples.items()
    }


def verdicts_kept(store: Store, dataset: Dataset, identity: str) -> dict[int, tuple[str, float | None]]:
    """By number: the label that this classifier gave, and its confidence in the gold label where it is known."""
    kept = store.setting(_key(dataset, identity), {})
    return {int(number): (label, confidence) for number, (label, confidence) in kept.items()}


def keep_verdicts(
    store: Store, dataset: Dataset, identity: str, verdicts: Mapping[int, tuple[str, float | None]]
) -> None:
    """Keep what a classifier said to originals."""
    store.set_setting(_key(dataset, identity), {str(number): list(said) for number, said in verdicts.items()})


def _key(dataset: Dataset, identity: str) -> str:
    return f"rephrasing/{dataset.fingerprint[:16]}/{identity}"
