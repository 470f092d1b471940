"""From what went wrong with a request to one clear line, and to what follows: for that request, or for the batch."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from emotui.backends.servers.transport import MOST_BYTES, Lost
from emotui.errors import ModelError

_LONGEST = 300
LEAST_SECRET = 8
"""Letters: shorter keys are placeholders that servers of one's own are given."""

_CONTEXT = re.compile(
    r"context (length|window|size)|maximum (model|input|sequence) length|longer than the model|"
    r"(prompt|input) is too long|exceed\w* .{0,40}context",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"(?:context (?:length|window|size)|maximum\D{0,40}length)\D{0,12}?(\d+)|context window of (\d+)", re.IGNORECASE
)
_ASKED = (
    re.compile(r"\((\d+) (?:tokens )?(?:in (?:your|the)|from the) (?:prompt|messages|input)", re.IGNORECASE),
    re.compile(r"(?:messages resulted in|request has|you passed|input \(|prompt has) ?(\d+)", re.IGNORECASE),
    re.compile(r"requested (?:tokens \()?(\d+)", re.IGNORECASE),
)
_PAGE = re.compile(r"\s*<(!doctype|html|head|body)\b", re.IGNORECASE)


class Unanswered(Exception):
    """One request has no answer; the others of its batch may have.

    Args:
        why: one line.
        again: whether the same request may be answered another time (the server's trouble, not the request's).
        status: the HTTP status, where there was one.
    """

    def __init__(self, why: str, *, again: bool = False, status: int | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.again = again
        self.status = status


@dataclass(frozen=True, slots=True)
class Teller:
    """Words errors for one server; never with the key, which a server may repeat."""

    url: str
    model: str
    key: str

    def clean(self, text: str) -> str:
        """One printable line of at most 300 characters, without the key."""
        if self.key:
            text = text.replace(self.key, "(key)")
        text = " ".join("".join(char if char.isprintable() else " " for char in text).split())
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"

    def without_key(self, body: bytes) -> bytes:
        """A server's JSON with the key taken out, however its letters are escaped: a server may repeat it.

        A key of fewer than `LEAST_SECRET` letters is no secret (`none`, `EMPTY`), and may be a word of the answer.

        Raises:
            msgspec.DecodeError, UnicodeDecodeError, RecursionError: it is no JSON.
        """
        if len(self.key) < LEAST_SECRET or not (self.key.encode() in body or b"\\" in body):
            return body
        plain = msgspec.json.encode(msgspec.json.decode(body))
        return plain.replace(msgspec.json.encode(self.key)[1:-1], b"(key)")

    def tell(self, lost: Lost) -> Exception:
        """What to raise where no whole answer came: `Unanswered`, or `ModelError` where every request fares so."""
        often = _often(lost.tries)
        match lost.kind:
            case "unreachable":
                return self.gone(lost)
            case "late":
                return Unanswered(f"the server did not answer in time{often}", again=True)
            case "long":
                return Unanswered(f"the server's answer is longer than {MOST_BYTES // 2**20} MB")
            case "dropped":
                return Unanswered(f"the server dropped the connection{often}", again=True)

    def gone(self, error: Exception) -> ModelError:
        """Nobody listens at the address."""
        why = self.clean(_root(error))
        return ModelError(
            f"No server answers at {self.url} ({why}): start it, or mend the address (docs/servers.md tells how)"
        )

    def refused_key(self, status: int) -> ModelError:
        """The server does not let us in. Its own words are left out: servers repeat parts of a key."""
        if self.key:
            return ModelError(f"The server at {self.url} refuses the key in OPENAI_API_KEY (HTTP {status})")
        return ModelError(f"The server at {self.url} wants a key (HTTP {status}): set OPENAI_API_KEY")

    def status(self, status: int, content: bytes, location: str | None = None, tries: int = 1) -> Exception:
        """What to raise for an answer that is no success.

        Args:
            content: its body.
            location: where it sends the request on to.
            tries: how often it was asked for.
        """
        often = _often(tries)
        body, code = _body_of(content)
        words = self.clean(message_of(body) or f"Error code: {status}")
        if status in (401, 403):
            return self.refused_key(status)
        if 300 <= status < 400:
            where = self.clean(location or "elsewhere")
            return ModelError(f"The server at {self.url} sends requests on to {where}: name that address in the SPEC")
        if is_context(words, body):
            return Unanswered(context_line(words, body))
        if status == 404 or "model_not_found" in words or code == "model_not_found":
            return ModelError(f"The server at {self.url} has no model {self.model!r}, or no such endpoint: {words}")
        if status == 429:
            if code == "insufficient_quota":
                return ModelError(f"The account at {self.url} has nothing left to spend (HTTP 429)")
            return Unanswered(f"the server limits the rate of requests{often}: lower the concurrency", again=True)
        if status >= 500 or status in (408, 409):
            return Unanswered(f"the server failed with HTTP {status}{often}: {words}", again=True, status=status)
        return Unanswered(f"the server refuses the request (HTTP {status}): {words}", status=status)


def _often(tries: int) -> str:
    """How often a request was sent, in brackets; empty for once."""
    return f" ({tries} tries)" if tries > 1 else ""


def _root(error: BaseException) -> str:
    """The operating system's own words at the bottom of a chain of errors, such as `Connection refused`."""
    words, seen = str(error) or type(error).__name__, set[int]()
    below: BaseException | None = error
    while below is not None and id(below) not in seen:
        seen.add(id(below))
        if isinstance(below, OSError) and below.errno:
            words = os.strerror(below.errno) if below.errno > 0 else str(below.strerror)
        elif str(below) and below is not error:
            words = str(below)
        inner = below.exceptions if isinstance(below, BaseExceptionGroup) else (below.__cause__ or below.__context__,)
        below = inner[0]
    return words


def _body_of(content: bytes) -> tuple[object, object]:
    """What an error's body says, in its field `error` where it has one, and its code; a text where it is no JSON."""
    text = content.decode("utf-8", "replace").strip()
    try:
        body: object = msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, RecursionError):
        body = text
    if isinstance(body, Mapping):
        body = body.get("error", body)
    return body, body.get("code") if isinstance(body, Mapping) else None


def message_of(body: object) -> str:
    """The server's own words in an error's body, or ''. A web page has none: it is a proxy's, or of no such server."""
    if isinstance(body, Mapping):
        for field in ("message", "detail", "error"):
            if body.get(field):
                found = body[field]
                return found if isinstance(found, str) else str(found)
        return ""
    if isinstance(body, str):
        return "it answers with a web page" if _PAGE.match(body) else body
    return ""


def is_context(words: str, body: object) -> bool:
    """Whether the server says that the prompt does not fit into the model's context."""
    if isinstance(body, Mapping) and (
        body.get("code") == "context_length_exceeded" or body.get("type") == "exceed_context_size_error"
    ):
        return True
    return _CONTEXT.search(words) is not None


def context_line(words: str, body: object) -> str:
    """The refusal of a prompt that is too long, with both counts where the server gives them."""
    asked = limit = None
    if isinstance(body, Mapping):
        asked, limit = body.get("n_prompt_tokens"), body.get("n_ctx")
    if not isinstance(asked, int):
        found = next((match for pattern in _ASKED if (match := pattern.search(words))), None)
        asked = int(found[1]) if found else None
    if not isinstance(limit, int):
        found = _LIMIT.search(words)
        limit = int(found[1] or found[2]) if found else None
    if asked is None or limit is None:
        return f"the prompt does not fit into the model's context: {words}"
    if asked <= limit:
        return f"the prompt ({asked} tokens) leaves no room for the answer in the model's context ({limit} tokens)"
    return f"the prompt is longer than the model's context ({asked} tokens of {limit})"
