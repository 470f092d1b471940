"""Greedy answers by transformers' continuous batching: a place that one answer leaves is taken by the next at once,
keys and values stand in pages, and a GPU replays its graphs.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import transformers

from emotui.backends import stopping
from emotui.backends.base import Generate, Generation, Refused
from emotui.backends.hf.loading import Loaded
from emotui.errors import ModelError

_PAGE = 256
_WAIT = 0.5
"""Seconds between looks at whether what writes is still there."""


class Writing(Protocol):
    """One answer so far; `finish` is empty until it has ended."""

    finish: str

    def take(self, token: int, ends: frozenset[int], tokenizer: Any) -> None: ...

    def result(self, tokenizer: Any) -> Generation: ...


def _settings(num_blocks: int, max_batch_tokens: int) -> Any:
    """The settings of continuous batching, under the names that this version of transformers has for them."""
    known = inspect.signature(transformers.ContinuousBatchingConfig).parameters
    settings: dict[str, Any] = {"page_size" if "page_size" in known else "block_size": _PAGE}
    if "auto_switch_to_flash" in known:
        settings["auto_switch_to_flash"] = False
    return transformers.ContinuousBatchingConfig(num_blocks=num_blocks, max_batch_tokens=max_batch_tokens, **settings)


@contextmanager
def _attention_as_it_is(model: Any) -> Iterator[None]:
    """What attention is computed by is part of a model's identity: versions without a setting for it would switch to
    flash attention where that is installed, but for models whose attention is paged already.
    """
    before = getattr(model.config, "_attn_implementation", None)
    if "auto_switch_to_flash" not in inspect.signature(transformers.ContinuousBatchingConfig).parameters:
        model.set_attn_implementation(f"paged|{before}")
    try:
        yield
    finally:
        if getattr(model.config, "_attn_implementation", None) != before:
            model.set_attn_implementation(before)


def can_page(request: Generate) -> bool:
    """Whether continuous batching gives what a request asks for: draws and grammars are not its own."""
    return request.temperature <= 0 and request.grammar is None


def write_paged(
    loaded: Loaded,
    prompts: Sequence[list[int]],
    rooms: Sequence[int],
    begin: Callable[[int], Writing],
    ends: frozenset[int],
    *,
    tokens: int,
    together: int,
) -> list[Generation | Refused]:
    """Write until every answer has ended.

    Args:
        prompts: tokens of each.
        rooms: how many tokens each may write, 1 or more.
        begin: makes the answer to a prompt, by its place.
        ends: tokens that end a text.
        tokens: whose keys and values may be held.
        together: tokens that one forward pass may hold.

    Raises:
        ModelError: the model cannot be read so, or stopped.
    """
    pages = [-(-(len(ids) + room) // _PAGE) + 1 for ids, room in zip(prompts, rooms, strict=True)]
    end = sorted(ends) or [-1]
    generation = transformers.GenerationConfig(
        do_sample=False, max_new_tokens=max(rooms), eos_token_id=end, pad_token_id=loaded.tokenizer.pad_token_id or 0
    )
    how = _settings(num_blocks=max(max(pages), min(sum(pages), tokens // _PAGE)), max_batch_tokens=max(together, _PAGE))
    writings = [begin(place) for place in range(len(prompts))]
    taken = [0] * len(prompts)
    refused: dict[int, Refused] = {}
    open_ones = set(range(len(prompts)))
    try:
        with (
            _attention_as_it_is(loaded.model),
            loaded.model.continuous_batching_context_manager(
                generation_config=generation, continuous_batching_config=how, warmup=False
            ) as manager,
        ):
            for place, (ids, room) in enumerate(zip(prompts, rooms, strict=True)):
                manager.add_request(ids, str(place), max_new_tokens=room, streaming=True, eos_token_id=end)
            while open_ones:
                stopping.check()
                found = manager.get_result(timeout=_WAIT)
                if found is None:
                    if not manager.is_running():
                        why = manager.background_thread_status.fatal_error
                        raise ModelError(f"continuous batching stopped: {why or 'nobody says why'}")
                    continue
                place = int(found.request_id)
                if place not in open_ones:
                    continue
                if found.error is not None:
                    refused[place] = Refused(" ".join(str(found.error).split()))
                    open_ones.discard(place)
                    continue
                writing = writings[place]
                for token in found.generated_tokens[taken[place] :]:
                    taken[place] += 1
                    writing.take(token, ends, loaded.tokenizer)
                    if writing.finish:
                        break
                if writing.finish or found.is_finished():
                    open_ones.discard(place)
                    if not found.is_finished():
                        manager.cancel_request(found.request_id)
    except ModelError:
        raise
    except (AttributeError, NotImplementedError, TypeError, ValueError) as error:
        why = " ".join(str(error).split())[:200]
        raise ModelError(f"this model cannot be read by continuous batching ({why}): leave batching out") from None
    return [refused.get(place) or writing.result(loaded.tokenizer) for place, writing in enumerate(writings)]
