"""A file of words to records that people annotate by the scheme `emolex`."""

from emotui.bounded import read_bytes
from emotui.errors import BadInput
from emotui.formats import capped, check_writable, write
from emotui.formats.rows import literal
from emotui.metrics.masked import fold
from emotui.records import ValuesGold
from emotui.tasks.masked.word_questions import OTHERS, WordChoice, choice_for, questions


def questions_from(path: str, seed: int) -> list[ValuesGold]:
    """A record for each word of a file.

    A line is a word, or a word with one near it in meaning and three that are not, between commas. A word alone gets
    these from this project's list of emotion words.

    Raises:
        BadInput: the file cannot be read, a word stands twice, is not on the list and has no words beside it, or a line
            is neither; with the line.
    """
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except OSError as error:
        raise BadInput(f"{literal(path)}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        place = error.object[: error.start].count(b"\n") + 1
        raise BadInput(f"{literal(path)}:{place}: not UTF-8") from error
    found: dict[str, WordChoice] = {}
    problems = []
    for number, line in enumerate(text.splitlines(), 1):
        cells = [fold(cell) for cell in line.split(",")]
        if not any(cells):
            continue
        choice = _choice(cells, seed)
        if isinstance(choice, str):
            problems.append(f"{literal(path)}:{number}: {choice}")
        elif choice.word in found:
            problems.append(f"{literal(path)}:{number}: {literal(choice.word)} stands here twice")
        else:
            found[choice.word] = choice
    if problems:
        raise BadInput(*capped(problems))
    if not found:
        raise BadInput(f"{literal(path)}:1: no word in it")
    return questions(list(found.values()), seed)


def write_questions(records: list[ValuesGold], to: str) -> None:
    """The records, in the format of the file's ending. Raises BadInput where it cannot be written."""
    check_writable(to)
    write(to, records)


def _choice(cells: list[str], seed: int) -> WordChoice | str:
    if len(cells) == 1:
        made = choice_for(cells[0], seed)
        return made or f"{literal(cells[0])} is not on emotui's list: write it as word,near,other,other,other"
    if len(cells) != 2 + OTHERS or not all(cells):
        return "neither a word nor word,near,other,other,other"
    if len(set(cells)) < len(cells):
        return "a word stands twice among its choices"
    return WordChoice(cells[0], cells[1], tuple(cells[2:]))
