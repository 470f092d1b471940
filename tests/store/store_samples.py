"""Samples and results for the tests of the store."""

from emotui.store.rows import ResultRow, SampleRow, ScoreRow


def sample(
    id_: str,
    text: str = "I slammed the door.",
    emotion: str | None = None,
    valence: str | None = None,
    emotions: tuple[str, ...] = (),
    valences: tuple[str, ...] = (),
) -> SampleRow:
    return SampleRow(id_, text, emotion, valence, emotions, valences, f'{{"id":"{id_}"}}'.encode())


def samples(n: int) -> list[SampleRow]:
    return [sample(f"s{number}", f"text {number}") for number in range(1, n + 1)]


def score(f1: float | None = None, sim: float | None = None, marks: str = "") -> ScoreRow:
    return ScoreRow("words", {"f1": f1, "sim": sim}, marks, b'{"made":"up"}')


def result(number: int, repeat: int = 0, attempt: int = 0, scored: ScoreRow | None = None) -> ResultRow:
    prediction = None if scored is None else b'{"spans":[]}'
    return ResultRow(number, repeat, attempt, "prompt", f"raw {number}", None, 0.5, prediction, scored)


def failure(number: int, repeat: int = 0, attempt: int = 0) -> ResultRow:
    return ResultRow(number, repeat, attempt, "prompt", None, "the model died", 0.5)
