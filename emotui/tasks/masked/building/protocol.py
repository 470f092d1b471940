"""Which emotion words of a post its writer says of themselves: the masking protocol of EXPRESS, word by word.

Three patterns (section "Emotion Masking" and its appendix): "I feel" in any tense, "I am" in any tense before an
adjective, and "feeling" without a pronoun before it, each followed by an emotion word. Up to three words may stand
between "I" and the verb, and between the verb and the emotion word; where a pronoun, noun, verb or interrogative is
among these, nothing is masked. docs/masked.md has every rule, and where the paper leaves one open.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from pathlib import Path

import msgspec

from emotui.errors import EmotuiError
from emotui.installing import install

# Words of a post with their places, and their parts of speech by HanTa, a tagger whose model comes with its
# package.

_PIECES = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d[\d.,]*|[^\w\s]|\n", re.UNICODE)
_CONTRACTED = re.compile(r"(?i)^(.+?)(n['’]t|['’](?:m|ve|d|ll|re|s))$")
_BARE = {
    "im": ("I", "'m"),
    "ive": ("I", "'ve"),
    "dont": ("do", "n't"),
    "didnt": ("did", "n't"),
    "wasnt": ("was", "n't"),
}
"""Contractions that people write without the apostrophe; "ill" and "id" are left as they stand."""

_ENDS = frozenset('.!?;:\n()[]"“”—–…')

Tag = Callable[[Sequence[str]], list[str]]
"""The tag of each word of a sentence."""


class Token(msgspec.Struct, frozen=True):
    """A word or a sign: `form`, what the tagger reads ("I" and "'m" of "Im"); `[start, end)` in the text."""

    form: str
    start: int
    end: int

    @property
    def lower(self) -> str:
        """The form in lower case."""
        return self.form.lower()

    @property
    def is_word(self) -> bool:
        """Whether there is a letter or digit in it."""
        return any(map(str.isalnum, self.form))


def sentences(text: str) -> list[list[Token]]:
    """The tokens of each stretch between signs that no pattern reaches across: ends of sentences, quotes, brackets."""
    found: list[list[Token]] = [[]]
    for piece in _PIECES.finditer(text):
        if piece[0] in _ENDS:
            found.append([])
        else:
            found[-1].extend(_tokens(piece[0], piece.start()))
    return [sentence for sentence in found if sentence]


def _tokens(word: str, start: int) -> list[Token]:
    end = start + len(word)
    if (parts := _BARE.get(word.lower())) is not None:
        return [Token(part, start, end) for part in parts]
    if (split := _CONTRACTED.match(word)) is None:
        return [Token(word, start, end)]
    place = start + split.end(1)
    return [Token(split[1], start, place), Token(split[2].replace("’", "'"), place, end)]


@cache
def hanta() -> Tag:
    """HanTa's tagger of English.

    Raises:
        EmotuiError: the package `HanTa` is not installed.
    """
    try:
        from HanTa import HanoverTagger
    except ImportError:
        raise EmotuiError(f"parts of speech are told by HanTa: {install('masking')}") from None
    # By its whole path: HanTa would take a file of that name in the working directory, and unpickle it.
    tagger = HanoverTagger.HanoverTagger(str(Path(HanoverTagger.__file__).with_name("morphmodel_en.pgz")))

    def tag(words: Sequence[str]) -> list[str]:
        return list(tagger.tag_sent(list(words), taglevel=0))

    return tag


GAP = 3
"""Words that may stand in a gap."""

_FEEL = frozenset({"feel", "felt", "feeling"})
_BE = frozenset({"am", "'m", "was", "been"})
_WHETHER = frozenset({"if", "whether", "unless"})
_NOT = frozenset({"not", "n't", "never", "no", "without", "hardly", "neither", "nor"})
_IF = frozenset({"if", "would", "'d", "could", "should", "might", "unless", "whether", "will", "'ll"})
_DETERMINERS = frozenset({"the", "a", "an", "this", "that"})
_INTENSIFIERS = frozenset(
    {
        "fucking",
        "freaking",
        "damn",
        "super",
        "hella",
        "kinda",
        "sorta",
        "lowkey",
        "pretty",
        "so",
        "just",
        "way",
        "beyond",
    }
)
_HEDGES = frozenset({("kind", "of"), ("sort", "of"), ("a", "bit"), ("a", "lot"), ("a", "tad"), ("a", "little")})
_BEFORE, _AFTER = 12, 4
"""Words around a pattern that the tagger is shown: posts have sentences without an end."""


class Decision(msgspec.Struct, frozen=True):
    """What became of one emotion word of a post.

    Attributes:
        start, end: its place in the text.
        word: as it stands there.
        masked: whether it is the writer's own, by the protocol.
        pattern: `I feel`, `I am`, `feeling`; empty where no pattern reaches the word.
        why: the rule that decided, in words.
        gap: the words before it up to the verb, with their tags.
        review: what a person might look at: `negated`, `conditional`, `attributive`.
    """

    start: int
    end: int
    word: str
    masked: bool
    pattern: str
    why: str
    gap: tuple[tuple[str, str], ...] = ()
    review: tuple[str, ...] = ()


class Words(msgspec.Struct, frozen=True):
    """Lower-cased emotion words: those looked for behind all verbs, and those behind forms of feel alone."""

    always: Collection[str]
    feel: Collection[str] = frozenset()


def decisions(text: str, words: Words, tag: Tag) -> list[Decision]:
    """One for each word of the list that stands in the text, in order.

    Args:
        tag: parts of speech, asked only about what stands around a pattern.
    """
    quoted = _quoted(text)
    found = []
    for sentence in sentences(text):
        places = {place for place in range(len(sentence)) if _is_looked_for(sentence, place, words)}
        for place in sorted(places):
            decision = _decide(sentence, place, places, tag)
            if decision.masked and any(start < decision.start < end for start, end in quoted):
                decision = _refused(decision, QUOTED)
            found.append(decision)
    return found


QUOTED = "between quotation marks: another may be speaking"
CONDITION = "a condition or a question, not a disclosure"
"""Rules whose words the report of a build names."""


def unlisted(text: str, words: Words, tag: Tag) -> list[str]:
    """Adjectives and participles that stand behind "I feel" or "feeling" as an emotion word would, and are not looked
    for; lower-cased, in order. What stands between quotation marks is left out.
    """
    quoted = _quoted(text)
    found = []
    for sentence in sentences(text):
        for verb in range(len(sentence)):
            if sentence[verb].lower in _FEEL:
                found += [
                    one.lower
                    for one in _unlisted_behind(sentence, verb, words, tag)
                    if not any(start < one.start < end for start, end in quoted)
                ]
    return found


def _unlisted_behind(sentence: Sequence[Token], verb: int, words: Words, tag: Tag) -> list[Token]:
    within = [at for at in range(verb + 1, len(sentence)) if sentence[at].is_word][: GAP + 1]
    if not within or any(_is_looked_for(sentence, at, words) for at in within):
        return []
    first, last = max(0, verb - _BEFORE), min(len(sentence), within[-1] + _AFTER)
    tags = dict(zip(range(first, last), tag([one.form for one in sentence[first:last]]), strict=True))
    if _pattern(sentence, verb, tags)[1] is not None:
        return []
    for place, at in enumerate(within):
        if _is_adjective(tags[at]) and sentence[at].lower not in _INTENSIFIERS and not _is_hedge(sentence, at):
            blocked = _blocked(sentence, within[:place], tags)
            others = _speaks_of_others(sentence, within[:place], at, tags)
            return [sentence[at]] if blocked is None and not others else []
    return []


def _is_looked_for(sentence: Sequence[Token], place: int, words: Words) -> bool:
    word = sentence[place].lower
    if word in words.always:
        return True
    verb = _verb_before(sentence, place) if word in words.feel else None
    return verb is not None and sentence[verb].lower in _FEEL


def _decide(sentence: Sequence[Token], place: int, places: Collection[int], tag: Tag) -> Decision:
    token = sentence[place]
    if (verb := _verb_before(sentence, place)) is None:
        return Decision(
            token.start, token.end, token.form, False, "", "no feel, am or feeling within three words before it"
        )
    first, last = max(0, verb - _BEFORE), min(len(sentence), place + _AFTER)
    tags = dict(zip(range(first, last), tag([one.form for one in sentence[first:last]]), strict=True))
    between = [at for at in range(verb + 1, place) if sentence[at].is_word]
    pattern, why = _pattern(sentence, verb, tags)
    if why is None and (earlier := [at for at in between if at in places]):
        why = f"only the first emotion word behind {sentence[verb].form} is masked, here {sentence[earlier[0]].form!r}"
    why = why or _blocked(sentence, between, tags)
    if why is None and pattern == "I am" and not _is_adjective(tags[place]):
        why = f"am is followed by {tags[place]}, not by an adjective"
    if why is None and _speaks_of_others(sentence, between, place, tags):
        why = "like or that before an adjective with a noun: a thought, not a feeling"
    gap = tuple((sentence[at].form, tags[at]) for at in between)
    review = tuple(_review(sentence, verb, place, tags)) if why is None else ()
    return Decision(token.start, token.end, token.form, why is None, pattern, why or _kept(pattern), gap, review)


def _kept(pattern: str) -> str:
    return {
        "I feel": "I feel, and nothing that blocks in either gap",
        "I am": "I am before an adjective, and nothing that blocks in either gap",
        "feeling": "feeling without a pronoun before it, and nothing that blocks in the gap",
    }[pattern]


def _verb_before(sentence: Sequence[Token], place: int) -> int | None:
    """The nearest form of feel or be with three words at most between it and the word; feel where both are near."""
    words, be = 0, None
    for at in range(place - 1, -1, -1):
        if sentence[at].lower in _FEEL:
            return at
        if be is None and sentence[at].lower in _BE:
            be = at
        words += sentence[at].is_word
        if words > GAP:
            break
    return be


def _pattern(sentence: Sequence[Token], verb: int, tags: dict[int, str]) -> tuple[str, str | None]:
    """The pattern whose verb this is, and why it is none; None where it is one."""
    name = "I feel" if sentence[verb].lower in _FEEL else "I am"
    words = 0
    for at in range(verb - 1, -1, -1):
        token = sentence[at]
        if token.form in ("I", "i"):
            if at and sentence[at - 1].lower in _WHETHER:
                return name, f"{CONDITION}: {sentence[at - 1].form!r}"
            return name, None
        if sentence[verb].lower == "feeling" and (why := _of_somebody(sentence, at, verb, tags)) is not None:
            return "feeling", why
        if sentence[verb].lower != "feeling" and (kind := _blocking(sentence, at, tags, first=True)) is not None:
            return name, f"a {kind} stands between I and {sentence[verb].form}: {token.form!r}"
        words += token.is_word
        if words == GAP + 1:
            break
    if sentence[verb].lower == "feeling":
        return "feeling", None
    return name, f"there is no I within three words before {sentence[verb].form}"


def _of_somebody(sentence: Sequence[Token], at: int, verb: int, tags: dict[int, str]) -> str | None:
    """Why a feeling is not the writer's own by the word `at` before it."""
    token, label = sentence[at], tags.get(at, "")
    if label.startswith("PN") or token.lower in ("me", "myself"):
        return f"a pronoun stands before feeling: {token.form!r}"
    if at == verb - 1 and (
        label.startswith(("AT", "DT", "DP", "AJ")) or token.lower in ("the", "a", "an", "this", "that")
    ):
        return f"feeling is a noun here, behind {token.form!r}"
    joined = all(tags.get(one, "").startswith(("V", "AV", "XX")) for one in range(at + 1, verb))
    if label.startswith("N") and joined:
        return f"it is the feeling of {token.form!r}"
    return None


def _blocked(sentence: Sequence[Token], between: Sequence[int], tags: dict[int, str]) -> str | None:
    for at in between:
        if sentence[at].lower == "that":
            return "a clause begins: 'that'"
        if (kind := _blocking(sentence, at, tags, first=False)) is not None:
            return f"a {kind} stands before the word: {sentence[at].form!r}"
    return None


def _blocking(sentence: Sequence[Token], at: int, tags: dict[int, str], *, first: bool) -> str | None:
    """What a word of a gap is, where that blocks; in the first gap (I have felt, I began to feel) verbs do not."""
    token, label = sentence[at], tags.get(at, "")
    if not token.is_word or token.lower in _INTENSIFIERS or _is_hedge(sentence, at):
        return None
    if label in ("AVQ", "DTQ", "PNQ"):
        return "wh-word"
    if label.startswith("PN") or label == "DPS":
        return "pronoun"
    if label.startswith("N"):
        return "noun"
    if label.startswith("V") and not first and label != "VVN":
        return "verb"
    return None


def _is_hedge(sentence: Sequence[Token], at: int) -> bool:
    pairs = [(at, at + 1), (at - 1, at)]
    inside = [(a, b) for a, b in pairs if a >= 0 and b < len(sentence)]
    return any((sentence[a].lower, sentence[b].lower) in _HEDGES for a, b in inside)


def _is_adjective(label: str) -> bool:
    """An adjective, or a past participle, which is one behind am ("I am worried")."""
    return label.startswith("AJ") or label in ("VVN", "VVD")


def _speaks_of_others(sentence: Sequence[Token], between: Sequence[int], place: int, tags: dict[int, str]) -> bool:
    return any(sentence[at].lower == "like" for at in between) and tags.get(place + 1, "").startswith("N")


def _review(sentence: Sequence[Token], verb: int, place: int, tags: dict[int, str]) -> Iterator[str]:
    before = [token.lower for token in sentence[max(0, verb - GAP - 2) : place]]
    if any(word in _NOT for word in before):
        yield "negated"
    if any(word in _IF for word in before):
        yield "conditional"
    if tags[place].startswith("AJ") and tags.get(place + 1, "").startswith("N"):
        yield "attributive"


def _refused(decision: Decision, why: str) -> Decision:
    return msgspec.structs.replace(decision, masked=False, why=why, review=())


def _quoted(text: str) -> list[tuple[int, int]]:
    """Stretches between double quotation marks, inside one paragraph; a mark without a partner opens nothing."""
    found, opened = [], None
    for place, sign in enumerate(text):
        if sign == "\n":
            opened = None
        elif sign == "“" or (sign == '"' and opened is None):
            opened = place
        elif sign in '"”' and opened is not None:
            found.append((opened, place))
            opened = None
    return found
