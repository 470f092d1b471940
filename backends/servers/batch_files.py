"""`batch:MODEL@ANSWERS`: a model whose answers another engine wrote into files, in OpenAI's and vLLM's batch format.

A request is a line with a `custom_id` made of all that it asks, so that an answer is found whatever else is in the
files, and however often they were asked. What no file answers is `wanted`: the lines that are to be asked next.
"""

import asyncio
import hashlib
import re
import struct
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from emotui.backends.base import ANSWERS, Generate, Generation, Message, ModelCard, Progress, Refused, Score, Scores
from emotui.backends.servers.abilities import Abilities
from emotui.backends.servers.answers import ChatAnswer
from emotui.backends.servers.asking import CONTINUE
from emotui.backends.servers.faults import Unanswered, message_of
from emotui.backends.servers.scoring import gather, judge, questions_of, write
from emotui.backends.servers.settings import FileSettings
from emotui.backends.servers.settings import read_spec_of_files as read_spec
from emotui.backends.servers.transport import MOST_BYTES
from emotui.errors import BadModel, ModelError

URL = "/v1/chat/completions"
_NEUTRAL: Mapping[str, Mapping[str, Any]] = {
    "vllm": {"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0},
    "openai": {},
}
_ENDING, _PACKED = ".jsonl", ".parquet"
_ROWS = 256
"""Rows of Parquet that are in memory together: an answer may have megabytes."""
_OURS = "emotui-"
_AGAIN = (0, 408, 409, 425, 429)
"""Statuses below 500 that say nothing about the question: asked again, it may be answered."""
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class _Response(msgspec.Struct):
    status_code: int = 0
    body: msgspec.Raw = msgspec.Raw(b"null")


class _Line(msgspec.Struct):
    """A line of an answer file. `response` is null where the engine failed at it; `error` says why."""

    custom_id: str
    response: _Response | None = None
    error: Any = None

    @property
    def status(self) -> int:
        return 0 if self.response is None else self.response.status_code


_PLACE = [
    *(("key", "<u8"), ("rest", "<u4"), ("file", "<u4"), ("start", "<u8")),
    *(("size", "<u4"), ("good", "?"), ("body", "S24")),
]
"""Where a line stands, by 12 bytes of its id; `body`: 12 bytes of a good answer's hash, in hexadecimal."""

_PACKED_PLACE = struct.Struct("<QIIQI?24s")

_TOGETHER = 1 << 18
"""Places that are in memory at a time: they are parted by the first bits of their keys, `_MOST_BITS` at most."""
_MOST_BITS, _HASHED = 12, 1 << 12


class Places:
    """Where the answer to each request stands: on the disk, by the request's id; in memory is none of it.

    Of several answers to one request the last counts, but a failure never takes the place of an answer.

    Attributes:
        n: how many requests there are; `failed`: with nothing but a failure; `twice`: with answers that differ.
        digest: a hash of which requests have which answers, in whatever order and files they stand.
    """

    def __init__(self) -> None:
        self.n = self.failed = self.twice = 0
        self.digest = f"{0:048x}"
        self._added = tempfile.TemporaryFile()  # noqa: SIM115 - as long as this
        self._rows: Any = None
        self._keys: Any = None

    def add(self, key: bytes, file: int, start: int, size: int, body: bytes) -> None:
        """One more line. `key`: 12 bytes; `body`: 12 bytes of an answer, none of a failure."""
        number, rest = int.from_bytes(key[:8]), int.from_bytes(key[8:])
        said = (number, rest, file, start, size, bool(body), body.hex().encode())
        self._added.write(_PACKED_PLACE.pack(*said))

    def settle(self) -> None:
        """All lines are there: one place a request, in the order of their keys."""
        import numpy as np

        self._added.flush()
        added = self._added.tell() // _PACKED_PLACE.size
        if not added:
            return
        rows = np.memmap(self._added, _PLACE, "r+", shape=(added,))
        self._rows = np.memmap(tempfile.TemporaryFile(), _PLACE, "w+", shape=(added,))  # noqa: SIM115 - as above
        keys = np.memmap(tempfile.TemporaryFile(), "<u8", "w+", shape=(added,))  # noqa: SIM115 - as above
        bits = min(_MOST_BITS, (-(-added // _TOGETHER) - 1).bit_length())
        blocks = [slice(start, start + _TOGETHER) for start in range(0, added, _TOGETHER)]
        sizes = np.zeros(1 << bits, int)
        for block in blocks:
            sizes += np.bincount(_part(rows["key"][block], bits), minlength=1 << bits)
        ends = np.cumsum(sizes)
        at = ends - sizes
        for block in blocks:  # the lines of each part together, in their order
            some = np.asarray(rows[block])
            part = _part(some["key"], bits)
            order = np.argsort(part, kind="stable")
            there, begins = np.unique(part[order], return_index=True)
            for one, of_it in zip(there, np.split(order, begins[1:]), strict=True):
                self._rows[at[one] : at[one] + len(of_it)] = some[of_it]
                at[one] += len(of_it)
        total = 0
        for start, end in zip(ends - sizes, ends, strict=True):
            if start == end:
                continue
            some = np.array(self._rows[start:end])
            kept = self._of_each(some[np.lexsort((some["rest"], some["key"]))])
            self._rows[self.n : self.n + len(kept)] = kept
            keys[self.n : self.n + len(kept)] = kept["key"]
            self.n += len(kept)
            self.failed += int((~kept["good"]).sum())
            good = kept[kept["good"]]
            for some in (good[start : start + _HASHED] for start in range(0, len(good), _HASHED)):
                for key, rest, body in some[["key", "rest", "body"]].tolist():
                    one = key.to_bytes(8) + rest.to_bytes(4) + bytes.fromhex(body.decode())
                    total += int.from_bytes(hashlib.blake2b(one, digest_size=24).digest())
        self.digest = f"{total % 2**192:048x}"
        self._keys = keys[: self.n]
        self._added.close()

    def find(self, key: bytes) -> tuple[int, int, int] | None:
        """The file, start and size of the line that counts for a request; None where there is none."""
        if not self.n:
            return None
        import numpy as np

        number, rest = int.from_bytes(key[:8]), int.from_bytes(key[8:])
        at = int(np.searchsorted(self._keys, np.uint64(number)))
        while at < self.n and int(self._keys[at]) == number:
            row = self._rows[at]
            if int(row["rest"]) == rest:
                return int(row["file"]), int(row["start"]), int(row["size"])
            at += 1
        return None

    def _of_each(self, rows: Any) -> Any:
        """The line that counts for each request. `rows`: sorted by request, those of each in their order."""
        import numpy as np

        begins = np.flatnonzero(
            np.r_[True, (rows["key"][1:] != rows["key"][:-1]) | (rows["rest"][1:] != rows["rest"][:-1])]
        )
        if len(begins) == len(rows):
            return rows
        request = np.repeat(np.arange(len(begins)), np.diff(np.r_[begins, len(rows)]))
        good = np.flatnonzero(rows["good"])
        counts = begins.copy()
        counts[request[good]] = good  # the last of several stays
        pairs = request[good][1:] == request[good][:-1]
        differ = pairs & (rows["body"][good][1:] != rows["body"][good][:-1])
        self.twice += len(np.unique(request[good][1:][differ]))
        return rows[counts]


def _part(keys: Any, bits: int) -> Any:
    """(n,): the first bits of each key, as a number."""
    return (keys >> 1 >> (63 - bits)).astype(int)


class AnswerFiles:
    """The answers of one or more files by their requests; they and their places stay on the disk.

    `foreign`: ids that are no request's of emotui.

    Raises:
        BadModel: a file cannot be read, or a line is no answer: `FILE:LINE: what is wrong`.
    """

    def __init__(self, path: str) -> None:
        self._paths = _files(path)
        self._unpacked = tempfile.TemporaryDirectory()
        self.places = Places()
        self.foreign = 0
        for number, file in enumerate(self._paths):
            if file.suffix.lower() == _PACKED:
                self._paths[number] = self._unpack(number, file)
            self._index(number, file, self._paths[number])
        self.places.settle()

    def __len__(self) -> int:
        return self.places.n

    def of(self, key: str) -> ChatAnswer | None:
        """The answer to a request; None where no file has one.

        Raises: Unanswered, where the engine failed at it; with `again` where it says nothing about the request.
        """
        place = self.places.find(_short(key))
        if place is None:
            return None
        number, start, size = place
        with self._paths[number].open("rb") as file:
            file.seek(start)
            said = file.read(size)
        try:
            line = msgspec.json.decode(said, type=_Line)
        except _UNREADABLE as error:
            raise Unanswered(f"the file of answers is not what it was a moment ago ({error})") from None
        if line.response is None or line.response.status_code != 200:
            why = message_of(line.error) if line.error else ""
            if not why and line.response is not None:
                why = _why(line.response.body)
            raise Unanswered(
                f"the engine did not answer: {' '.join(why.split())[:300] or 'it does not say why'}",
                again=line.status in _AGAIN or line.status >= 500,
            )
        try:
            return msgspec.json.decode(line.response.body, type=ChatAnswer)
        except _UNREADABLE as error:
            raise Unanswered(f"the answer is not what the protocol says ({error})") from None

    def _unpack(self, number: int, path: Path) -> Path:
        """Write a Parquet file's rows as lines to a file of its own, in which they are found."""
        import duckdb

        to = Path(self._unpacked.name, f"{number}{_ENDING}")
        # A name is no pattern, and nothing is fetched to read it.
        source = re.sub(r"([*?[])", r"[\1]", str(path)).replace("'", "''")
        offline: dict[str, Any] = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
        try:
            if not path.is_file():
                raise BadModel(f"batch: {path}: is no file")
            with duckdb.connect(config=offline) as connection, to.open("wb") as file:
                described = connection.execute(f"describe from read_parquet('{source}')").fetchall()
                kinds = {str(name): str(kind) for name, kind, *_ in described}
                if lacking := {"custom_id", "response"} - kinds.keys():
                    raise BadModel(f"{path}: has no column {min(lacking)}, as answers have (there: {', '.join(kinds)})")
                texts = {
                    name: f"{name}::varchar" if kinds[name] in ("VARCHAR", "JSON") else f"to_json({name})::varchar"
                    for name in ("response", "error")
                    if name in kinds
                }
                asked = f"select custom_id::varchar, {texts['response']}, {texts.get('error', 'null')}"
                rows = connection.execute(f"{asked} from read_parquet('{source}')")
                while some := rows.fetchmany(_ROWS):
                    for key, *said in some:
                        response, error = ((one or "null").replace("\n", " ").encode() for one in said)
                        name = msgspec.json.encode(key or "")
                        file.write(b'{"custom_id":%b,"response":%b,"error":%b}\n' % (name, response, error))
        except (duckdb.Error, OSError) as error:
            raise BadModel(f"batch: {path}: cannot be read: {str(error).splitlines()[0]}") from None
        return to

    def _index(self, number: int, named: Path, path: Path) -> None:
        """Note where each answer of a file stands. `named`: as a person knows it."""
        try:
            if path.exists() and not path.is_file():
                raise BadModel(f"batch: {named}: is a pipe or device: answers are read again and again, from a file")
            with path.open("rb") as file:
                start = 0
                for count, line in enumerate(iter(partial(file.readline, MOST_BYTES + 1), b""), start=1):
                    if len(line) > MOST_BYTES:
                        raise BadModel(
                            f"{named}:{count}: a line of more than {MOST_BYTES // 2**20} MB, as no answer is"
                        )
                    if line.strip():
                        self._keep(number, named, count, start, line)
                    start += len(line)
        except (OSError, ValueError) as error:
            why = (error.strerror or str(error)).lower() if isinstance(error, OSError) else "there is no such file"
            raise BadModel(f"batch: {named}: cannot be read: {why}") from None

    def _keep(self, number: int, path: Path, count: int, start: int, line: bytes) -> None:
        try:
            found = msgspec.json.decode(line, type=_Line)
        except _UNREADABLE as error:
            raise BadModel(f"{path}:{count}: is no line of a batch's answers: {error}") from None
        if not found.custom_id.startswith(_OURS):
            self.foreign += 1
            return
        key = _short(found.custom_id)
        good = found.response is not None and found.response.status_code == 200
        body = hashlib.blake2b(found.response.body, digest_size=12).digest() if good and found.response else b""
        self.places.add(key, number, start, len(line), body)


class FileAsker:
    """Answers from files in place of a server (`emotui.backends.servers.asking.Asks`).

    Args:
        again: whether a request at which the engine failed is wanted as one is that no file answers.
    """

    def __init__(self, model: str, settings: FileSettings, files: AnswerFiles, *, again: bool) -> None:
        self._model, self._settings, self._files, self._again = model, settings, files, again
        prefill = "continue" if settings.engine == "vllm" else "none"
        self.abilities = Abilities("chat", settings.top_logprobs, prefill, {}, (), model, "", (0, 0))
        self.wanted: dict[str, bytes] = {}
        """Requests that no file answers: their lines by `custom_id`."""

    @property
    def judges_itself(self) -> bool:
        return self.abilities.width > 0 and self._settings.verdict == "along"

    @property
    def room(self) -> int:
        return self._settings.thinking_room if self._settings.thinking == "on" else 0

    async def ask(
        self,
        messages: Sequence[Message],
        fields: Mapping[str, Any],
        *,
        opening: str = "",
        grammar: str | None = None,
    ) -> ChatAnswer:
        """The answer of a file. Raises: Unanswered, with `again` where there is none yet."""
        body = self._body(messages, fields, opening, grammar)
        try:
            key = _key(body)
        except UnicodeEncodeError:
            raise Unanswered("the text holds half a character (a lone surrogate): no request can carry it") from None
        try:
            found = self._files.of(key)
        except Unanswered as fault:
            if not (fault.again and self._again):
                raise Unanswered(fault.why) from None
            found = None
        if found is None:
            line = {"custom_id": key, "method": "POST", "url": URL, "body": body}
            self.wanted[key] = msgspec.json.encode(line)
            raise Unanswered(
                "no file answers this yet: emotui batch write --answers writes what is missing", again=True
            )
        return found

    def _body(
        self, messages: Sequence[Message], fields: Mapping[str, Any], opening: str, grammar: str | None
    ) -> dict[str, Any]:
        own = self._settings
        said = [{"role": message.role, "content": message.content} for message in messages]
        body: dict[str, Any] = {"model": self._model, "messages": said, **fields, **_NEUTRAL[own.engine], **own.extra}
        if own.engine == "openai":
            body["max_completion_tokens"] = body.pop("max_tokens")
            if opening or grammar:
                raise Unanswered("OpenAI begins no answer with given words, and follows no grammar")
            return body
        if opening:
            said.append({"role": "assistant", "content": opening})
            body |= CONTINUE
        if own.thinking != "auto":
            body["chat_template_kwargs"] = dict.fromkeys(("enable_thinking", "thinking"), own.thinking == "on")
        if grammar is not None:
            body["structured_outputs"] = {"grammar": grammar}
        return body


class BatchModel:
    """The answers of files as a backend; `asker.wanted` has what they lack."""

    def __init__(self, model: str, settings: FileSettings, files: AnswerFiles, *, again: bool = False) -> None:
        self.asker = FileAsker(model, settings, files, again=again)
        told = {
            name: getattr(settings, name) for name in ("engine", "top_logprobs", "thinking", "thinking_room", "extra")
        }
        told |= {"verdict": settings.verdict} if settings.verdict != FileSettings().verdict else {}
        self.card = ModelCard(
            spec=f"batch:{model}",
            name=model,
            capabilities=("generate", "score") if settings.top_logprobs else ("generate",),
            identity={
                "kind": "batch",
                "model": model,
                "asked": msgspec.json.encode(told, order="sorted").decode(),
                ANSWERS: files.places.digest,
            },
            notes=(
                "Its answers come from files that another engine wrote: which model that was, its name alone tells",
                f"{len(files) - files.places.failed:,} answers",
                *_odd(files),
            ),
        )

    def generate(self, requests: Sequence[Generate]) -> list[Generation | Refused]:
        """What the engine wrote."""
        return asyncio.run(self._generate(requests))

    def score(self, requests: Sequence[Score]) -> list[Scores | Refused]:
        """Yes against no as the engine's log-probabilities have them."""
        return asyncio.run(self._score(requests))

    async def _generate(self, requests: Sequence[Generate]) -> list[Generation | Refused]:
        found: list[Generation | Refused] = []
        for request in requests:
            try:
                found.append(await write(self.asker, request))
            except Unanswered as fault:
                found.append(Refused(fault.why, again=fault.again))
        return found

    async def _score(self, requests: Sequence[Score]) -> list[Scores | Refused]:
        found: list[Scores | Refused] = []
        for request in requests:
            verdicts: list[Any] = []
            for question in questions_of(request):
                try:
                    verdicts.append(await judge(self.asker, question))
                except Unanswered as fault:
                    verdicts.append(Refused(fault.why, again=fault.again))
            found.append(gather(verdicts))
        return found


def load(argument: str, options: Mapping[str, Any], progress: Progress) -> BatchModel:
    """Look through the answer files. Raises ModelError, one line."""
    model, path, settings = read_spec(argument, options)
    if not path:
        raise ModelError("batch: names no answers: write batch:MODEL@FILE.jsonl, or a folder of such files")
    progress(f"looking through {path}")
    return BatchModel(model, settings, AnswerFiles(path))


def asked_only(argument: str) -> BatchModel:
    """The same for writing requests: without files nothing is answered yet. Raises as `load` does."""
    model, path, settings = read_spec(argument, {})
    return BatchModel(model, settings, AnswerFiles(path), again=True)


def _odd(files: AnswerFiles) -> list[str]:
    """What in the files is not one answer to one question, in words."""
    counts = (
        (files.places.failed, "{} at which the engine failed: emotui batch write --answers asks for them again"),
        (files.places.twice, "{} answered more than once, and differently: the last answer counts"),
        (files.foreign, "{} with an id that emotui did not give: passed over"),
    )
    return [line.format(f"{n:,}") for n, line in counts if n]


def _files(path: str) -> list[Path]:
    if not path:
        return []
    named = Path(path).expanduser()
    if named.is_dir():
        return sorted(each for each in named.iterdir() if each.suffix in (_ENDING, _PACKED) and each.is_file())
    return [named]


def _why(body: msgspec.Raw) -> str:
    """The engine's own words in place of an answer, if it has any."""
    try:
        said = msgspec.json.decode(body)
    except _UNREADABLE:
        return ""
    return message_of(said.get("error", said)) if isinstance(said, dict) else str(said)


def _key(body: Mapping[str, Any]) -> str:
    return _OURS + hashlib.sha256(msgspec.json.encode(body, order="sorted")).hexdigest()[:40]


def _short(key: str) -> bytes:
    """As little room as a thousand million keys allow."""
    return hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=12).digest()
