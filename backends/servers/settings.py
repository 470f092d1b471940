"""What a person can set about a server: how many requests at once, how patiently, for how much."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import unquote

from emotui.backends.servers.address import Address, parse_address
from emotui.errors import BadModel

THINKING = ("off", "on", "auto")
ENDPOINTS = ("auto", "chat", "completions")
FINGERPRINTS = ("auto", "hold", "note", "ignore")
PREFILLS = ("auto", "continue", "assistant", "none")


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of an `openai:` model; each may also come as text.

    Attributes:
        concurrency: requests under way at once.
        timeout: seconds that one try of one request may take, to the last byte of its answer.
        retries: further tries after a 429, a 5xx, a lost connection or an answer that is not whole.
        batch_limit: seconds after which a batch hands back what it has (under the host's own limit of 600).
        endpoint: `chat`, `completions` or `auto`: chat where the server has it.
        token_budget: tokens, read and written together, that may be used from loading on. None: no limit.
        money_budget: the same in money; needs prices.
        price_in, price_out: money for a million tokens read, and written.
        extra: further fields of each request's body, as the server names them; they count as identity.
        fingerprint: `hold` stops when the server reports another build than at loading; `note` goes on, and says which
            there were; `ignore` says nothing. `auto` holds software that is known to have one build, and notes others'.
        prefill: how an answer that begins with given words is asked for: `continue` (vLLM, SGLang), `assistant`
            (llama-server), `none`, or `auto`: as the server signs its models.
        thinking: `off` and `on` tell the model's chat template; `auto` leaves it to the server.
        thinking_room: tokens that thoughts may have beside an answer's own, with thinking `on`.
    """

    concurrency: int = 8
    timeout: float = 300.0
    retries: int = 4
    batch_limit: float = 540.0
    endpoint: str = "auto"
    token_budget: int | None = None
    money_budget: float | None = None
    price_in: float = 0.0
    price_out: float = 0.0
    extra: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str = "auto"
    prefill: str = "auto"
    thinking: str = "off"
    thinking_room: int = 2048


_WHOLE = {"concurrency": 1, "retries": 0, "token_budget": 1, "thinking_room": 0}
_CHOICE = {"endpoint": ENDPOINTS, "fingerprint": FINGERPRINTS, "prefill": PREFILLS, "thinking": THINKING}


def read_spec(argument: str, options: Mapping[str, Any]) -> tuple[Address, Settings]:
    """What follows `openai:` as an address and its options. Raises BadModel as `parse_address` and `parse_settings`."""
    address = parse_address(argument)
    return address, parse_settings({**address.options, **options})


def parse_settings(options: Mapping[str, Any]) -> Settings:
    """Check the options by name and value.

    Raises:
        BadModel: an unknown option, a value out of bounds, or a money budget without a price.
    """
    known = [each.name for each in fields(Settings)]
    values: dict[str, Any] = {}
    for name, value in options.items():
        if name not in known:
            raise BadModel(f"openai: has no option {name!r} (it has: {', '.join(known)})")
        if value is not None:
            values[name] = _value(name, value)
    settings = Settings(**values)
    if settings.money_budget is not None and not settings.price_in and not settings.price_out:
        raise BadModel("openai: money_budget needs price_in or price_out (money for a million tokens)")
    return settings


def _value(name: str, value: Any) -> Any:
    return read_value("openai", name, value, choices=_CHOICE, whole=_WHOLE, above_0=("timeout", "batch_limit"))


def read_value(
    kind: str,
    name: str,
    value: Any,
    *,
    choices: Mapping[str, tuple[str, ...]],
    whole: Mapping[str, int],
    above_0: tuple[str, ...] = (),
    below: float = 1e12,
) -> Any:
    """An option of a server or a batch, whose value may be text; one that is neither listed nor `extra` is a number.

    Args:
        choices: the values that an option can have, where it cannot have any.
        whole: options that are whole numbers, with the smallest of each.
        above_0: numbers that cannot be 0.
        below: what every number has to be less than.

    Raises:
        BadModel: a value that it cannot have.
    """
    if name in choices:
        if value not in choices[name]:
            raise BadModel(f"{kind}: {name} is one of {', '.join(choices[name])}, not {value!r}")
        return value
    if name == "extra":
        return parse_extra(kind, value)
    least = whole.get(name, 0)
    try:
        number = int(value) if name in whole else float(value)
    except (TypeError, ValueError, OverflowError):
        number = -1
    if not least <= number < below or (name in above_0 and not number):
        what = "a whole number" if name in whole else "a number"
        raise BadModel(f"{kind}: {name} is {what} of {least} or more, not {value!r}")
    return number


def parse_extra(kind: str, value: Any) -> Mapping[str, Any]:
    """Further fields of a request's body. Raises BadModel where they are no JSON object."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError as error:
            raise BadModel(f"{kind}: extra is not JSON ({error})") from None
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise BadModel(kind + ': extra is one JSON object, such as {"min_p": 0}')
    return dict(value)


# The SPEC of answers in files: `batch:MODEL@FILE.jsonl#NAME=VALUE`, or a folder of such files.

ENGINES = ("vllm", "openai")
VERDICTS = ("along", "second")


@dataclass(frozen=True, slots=True)
class FileSettings:
    """How requests are written.

    Attributes:
        engine: `vllm` (also SGLang), or `openai`, which takes other fields.
        top_logprobs: alternatives a token, from which yes and no are read; 0 asks for none.
        verdict: where yes stands against no behind a text that the model writes (`reasoned` scenes). `along`: in the
            answer with that text, which then has alternatives to each of its tokens; `second`: in a second question of
            one token, which begins with the text. Only for engines that let an answer begin with given words.
        thinking, thinking_room: as of a server (`emotui.backends.servers.settings`).
        extra: further fields of each request's body.
    """

    engine: str = "vllm"
    top_logprobs: int = 20
    verdict: str = "along"
    thinking: str = "off"
    thinking_room: int = 2048
    extra: Mapping[str, Any] = field(default_factory=dict)


_OF_FILES = {"engine": ENGINES, "thinking": THINKING, "verdict": VERDICTS}
_WHOLE_OF_FILES = {"top_logprobs": 0, "thinking_room": 0}


def read_spec_of_files(argument: str, options: Mapping[str, Any]) -> tuple[str, str, FileSettings]:
    """The model's name, the file or folder (empty where none is named), and the options.

    Raises:
        BadModel: no model is named, an option is unknown, or has a value that it cannot have, also beside the others.
    """
    whole, _, rest = argument.partition("#")
    model, _, path = whole.partition("@")
    if not model:
        raise BadModel("batch: needs the name of a model, as in batch:MODEL@ANSWERS.jsonl")
    given: dict[str, Any] = {}
    for pair in filter(None, rest.split("&")):
        name, sign, value = pair.partition("=")
        if not sign:
            raise BadModel(f"batch: the option {name!r} has no value: write #NAME=VALUE&NAME=VALUE at the end")
        given[name] = unquote(value)
    known = [each.name for each in fields(FileSettings)]
    values: dict[str, Any] = {}
    for name, value in {**given, **options}.items():
        if name not in known:
            raise BadModel(f"batch: has no option {name!r} (it has: {', '.join(known)})")
        values[name] = read_value("batch", name, value, choices=_OF_FILES, whole=_WHOLE_OF_FILES, below=1e6)
    settings = FileSettings(**values)
    if settings.verdict == "second" and (settings.engine == "openai" or not settings.top_logprobs):
        raise BadModel("batch: verdict=second needs engine=vllm, and log-probabilities (top_logprobs)")
    return model, path, settings
