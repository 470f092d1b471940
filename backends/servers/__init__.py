"""`openai:MODEL@http://HOST:PORT/v1`: a server that speaks OpenAI's protocol (llama-server, vLLM, SGLang, OpenAI).

No host is talked to but the one that the SPEC names. The key comes from the environment (OPENAI_API_KEY) and is kept
out of the card, the identity, every error and every log.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any

from emotui.backends.base import ModelCard, Progress
from emotui.backends.servers.abilities import Abilities, choose_model, find_abilities
from emotui.backends.servers.address import Address
from emotui.backends.servers.answers import Served
from emotui.backends.servers.asking import Asker, Budget, builds_are
from emotui.backends.servers.connection import Connection, check_client, key_from_environment
from emotui.backends.servers.model import ServerModel
from emotui.backends.servers.scoring import read_verdict
from emotui.backends.servers.settings import Settings, read_spec

_LITTLE = 0.1
"""Below this probability of Yes and No together, a model's first word is about something else."""


def load(argument: str, options: Mapping[str, Any], progress: Progress) -> ServerModel:
    """Connect to a server and find out what it can do.

    Args:
        argument: `MODEL@http://HOST:PORT/v1`, with `#NAME=VALUE&NAME=VALUE` after it for options; MODEL may be empty
            where the server has only one.
        options: see `emotui.backends.servers.settings.Settings`; they go before those of the argument.
        progress: called with one line a step.

    Raises:
        ModelError: one clear line: the client library is missing, nobody answers, the key is refused, no such model.
    """
    address, settings = read_spec(argument, options)
    check_client()
    key = key_from_environment()
    connection = Connection(address, settings, key)
    runner = asyncio.Runner()
    try:
        return runner.run(_connect(connection, bool(key), runner, progress))
    except BaseException:
        runner.run(connection.close())
        runner.close()
        raise


async def _connect(connection: Connection, has_key: bool, runner: asyncio.Runner, progress: Progress) -> ServerModel:
    progress(f"asking {connection.address.url} for its models")
    served, unlisted = await choose_model(connection)
    abilities = await find_abilities(connection, served, progress, unlisted)
    budget = Budget(connection.settings)
    budget.count(*abilities.used)
    card = _card(connection, served, abilities, has_key, unlisted)
    return ServerModel(card, connection, Asker(connection, served.id, abilities, budget), runner)


def _card(connection: Connection, served: Served, abilities: Abilities, has_key: bool, unlisted: str) -> ModelCard:
    address, settings = connection.address, connection.settings
    kept_out = {"without": ",".join(sorted(connection.refused))} if connection.refused else {}
    room = {"thinking_room": str(settings.thinking_room)} if settings.thinking == "on" else {}
    held = {"hold": abilities.fingerprint, "note": "noted", "ignore": "ignored"}
    identity = {
        "server": address.url,
        "model": served.id,
        "served_as": abilities.served_as,
        "root": served.root or "",
        "endpoint": abilities.endpoint,
        "top_logprobs": str(abilities.width),
        "prefill": abilities.prefill,
        "neutral": json.dumps(abilities.neutral, sort_keys=True),
        "fingerprint": held[builds_are(settings, abilities)],
        "extra": json.dumps(settings.extra, sort_keys=True),
        **kept_out,
        **room,
    }
    return ModelCard(
        spec=f"openai:{served.id}@{address.url}",
        name=served.id,
        capabilities=tuple(_capabilities(abilities)),
        identity=identity,
        notes=(*_notes(address, settings, served, abilities, has_key), *_further(connection, abilities, unlisted)),
        # A few more than are under way, so that an answer's place is never empty.
        at_once=settings.concurrency + max(2, settings.concurrency // 4),
    )


def _further(connection: Connection, abilities: Abilities, unlisted: str) -> Iterator[str]:
    """Of servers in the cloud: what they do not take, and what may change."""
    if unlisted:
        yield "The server does not list this model, but answers to its name"
    if "temperature" in connection.refused:
        yield "It takes no temperature but its own (1): every answer is sampled, whatever a run asks for"
    others = sorted(connection.refused - {"temperature"})
    if others:
        yield f"It does not take {', '.join(others)}: left out of what it is asked"
    if abilities.fingerprint and builds_are(connection.settings, abilities) == "note":
        build = connection.tell.clean(abilities.fingerprint)
        yield f"It reports the build {build!r}, which may change: runs note which there were"


def _capabilities(abilities: Abilities) -> Iterator[str]:
    if abilities.endpoint != "embeddings":
        yield "generate"
    if abilities.width:
        yield "score"
    if abilities.embeds:
        yield "embed"


def _notes(address: Address, settings: Settings, served: Served, abilities: Abilities, has_key: bool) -> Iterator[str]:
    """What a person should know before believing this model's results."""
    yield "What runs behind the server is known only by what the server says of itself"
    if served.max_model_len:
        yield f"Context: {served.max_model_len:,} tokens"
    if abilities.endpoint == "completions":
        yield "No chat endpoint: prompts are sent as plain text"
    if abilities.endpoint == "embeddings":
        yield "It gives sentence embeddings and nothing else"
        return
    if not abilities.neutral:
        yield "Samples are drawn with what the server adds to the temperature (top-k, penalties) by itself"
        if settings.thinking != "auto" and abilities.endpoint == "chat":
            yield f"The server is not known to heed thinking={settings.thinking}"
    if not abilities.width:
        yield "The server gives no log-probabilities: it can write, not score"
    else:
        yield f"{abilities.width} log-probabilities a token: an answer beyond them is recorded as censored"
        mass = read_verdict(abilities.first).mass
        if mass < _LITTLE:
            yield f"It began its answer to a yes/no question with neither (mass {mass:.2f}): its scores may say little"
    if has_key and not address.encrypted and not address.loopback:
        yield "The key goes over the network unencrypted (http)"
