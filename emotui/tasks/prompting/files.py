"""Prompts as TOML: one table for each way of asking, with `user`, and `system` where there is one.

A table's words are put to the model sign by sign; only the places that its task names are filled in.
`docs/models.md` has the format.
"""

import re
from collections.abc import Mapping, Sequence

import msgspec

from emotui.backends.base import Message
from emotui.bounded import read_text
from emotui.errors import BadInput
from emotui.toml_text import parse_toml

_KEYS = ("system", "user")


class Prompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One way's words, with places like `{text}` in `user`; without `system` there is no system message."""

    user: str
    system: str = ""


Prompts = Mapping[str, Prompt]
"""A prompt for each way; a file of the user's may have fewer."""


class Places(msgspec.Struct, frozen=True):
    """What `user` has to hold: `once` each exactly once, `often` each at least once. `barred`: never in `system`."""

    once: tuple[str, ...]
    often: tuple[str, ...] = ()
    barred: tuple[str, ...] = ()


def filled(words: str, fields: Mapping[str, str]) -> str:
    """The words with `{name}` of every field put in as it is, in one go: what is put in is not looked at again."""
    names = "|".join(map(re.escape, fields))
    return re.sub(rf"\{{({names})\}}", lambda found: fields[found[1]], words) if fields else words


def as_chat(prompt: Prompt, user: str) -> tuple[Message, ...]:
    """The system message, if there is one, and this message of the user's."""
    said = Message("user", user)
    return (Message("system", prompt.system), said) if prompt.system else (said,)


def as_kept(messages: Sequence[Message]) -> str:
    """A chat as it is kept beside its answer."""
    return "\n\n".join(f"[{message.role}]\n{message.content}" for message in messages)


def prompt_of(prompts: Prompts, way: str) -> Prompt:
    """The prompt of a way. Raises BadInput where the person's own have none for it."""
    if way not in prompts:
        raise BadInput(f"your prompts have none for {way}: write a table [{way}]; there are: {', '.join(prompts)}")
    return prompts[way]


def read_prompt_file(
    path: str, ways: Mapping[str, Places], wanted: Sequence[str], named: Mapping[str, str] | None = None
) -> Prompts:
    """A prompt file: TOML, one table a way.

    Args:
        ways: what each way's words have to hold.
        wanted: the ways that are named where there is no table at all.
        named: other names of ways, which a table may have (`Asking.named`).

    Raises:
        BadInput: it cannot be read, is no TOML (with the line), or a table or key of it is wrong (with its name).
    """
    try:
        content = parse_toml(path, read_text(path))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from error
    for other, way in (named or {}).items():
        if other in content and way in content and other != way:
            raise BadInput(f"{path}: {other} and {way} are one way: write one table")
    content = {(named or {}).get(name, name): table for name, table in content.items()}
    problems = [f"{path}: {problem}" for name, table in content.items() for problem in _problems(name, table, ways)]
    if problems:
        raise BadInput(*problems)
    if not content:
        raise BadInput(f"{path}: there is no prompt in it; write a table for at least one of: {', '.join(wanted)}")
    return {name: msgspec.convert(table, Prompt) for name, table in content.items()}


def _problems(name: str, table: object, ways: Mapping[str, Places]) -> list[str]:
    if name not in ways:
        return [f"{name or repr(name)}: no setting has this name; there are: {', '.join(ways)}"]
    if not isinstance(table, dict):
        return [f"{name}: should be a table: [{name}] and under it user = ..."]
    strange = [f"{name}.{key}: no such key; there are: {', '.join(_KEYS)}" for key in table if key not in _KEYS]
    wrong = [f"{name}.{key}: should be a string" for key in _KEYS if not isinstance(table.get(key, ""), str)]
    if strange or wrong:
        return strange + wrong
    if "user" not in table:
        return [f"{name}.user: is missing"]
    places = ways[name]
    for place in (*places.once, *places.often):
        times = table["user"].count(place)
        if times != 1 and (times == 0 or place in places.once):
            how = "once" if place in places.once else "at least once"
            return [
                f"{name}.user: {place} should stand in it {how}, for what comes of the sample; it stands {times} times"
            ]
    astray = [place for place in places.barred if place in table.get("system", "")]
    return [f"{name}.system: {astray[0]} belongs in user"] if astray else []
