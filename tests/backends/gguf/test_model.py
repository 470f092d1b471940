"""`gguf:` on the tiny trained model: it writes, scores and ranks by the request alone, and breaks in one clear line.

Needs llama-cpp-python, and gguf to make broken files: `pip install llama-cpp-python gguf`; it compiles for minutes.
"""

import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llama_cpp", reason="llama-cpp-python compiles for minutes: see docs/models.md")
pytest.importorskip("gguf")

from emotui.backends import host, stopping
from emotui.backends.base import Generate, Generation, Message, Rank, Ranked, Refused, Score, Scores
from emotui.backends.gguf import load
from emotui.backends.gguf.library import Device, Library
from emotui.backends.gguf.model import GgufModel, common_length
from emotui.backends.gguf.writing import find_stop
from emotui.backends.host import Cancelled, ModelProcess
from emotui.errors import ModelError
from emotui.records import PLUTCHIK
from tests.paths import TESTS
from tests.tiny.corpus import NAMES, as_json, fact_examples, facts, prefix_of, question_of, unseen
from tests.tiny.gguf_copy import copy_gguf

TINY = TESTS / "tiny" / "model" / "tiny-Q8_0.gguf"
Copy = Callable[..., Path]


def loaded(path: Path, **options: Any) -> GgufModel:
    return load(str(path), {"threads": 1, **options}, lambda line: None)


@pytest.fixture(scope="module")
def model() -> Iterator[GgufModel]:
    tiny = loaded(TINY)
    yield tiny
    tiny.close()


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """Make a copy of the tiny model with something changed."""

    def make(name: str = "copy.gguf", **how: Any) -> Path:
        return copy_gguf(TINY, tmp_path / name, **how)

    return make


def user(text: str) -> tuple[Message, ...]:
    return (Message("user", text),)


def write(model: GgufModel, *requests: Generate) -> list[Generation]:
    found = model.generate(requests)
    assert all(isinstance(each, Generation) for each in found), found
    return found  # type: ignore[return-value]


FACT = fact_examples()[0]
TEXT, SPANS = next((text, spans) for text, spans in unseen() if len(spans) == 2)
LONG = as_json(TEXT, SPANS)


def test_it_answers_as_it_was_taught(model: GgufModel) -> None:
    known = fact_examples()[:40]
    answers = write(model, *[Generate(user(each.prompt)) for each in known])
    assert [each.text for each in answers] == [each.answer for each in known]


def test_an_answer_counts_its_tokens_and_says_how_it_ended(model: GgufModel) -> None:
    whole, cut = write(model, Generate(user(LONG.prompt)), Generate(user(LONG.prompt), max_tokens=3))
    assert (whole.text, whole.finish) == (LONG.answer, "stop")
    assert (cut.tokens, cut.finish) == (3, "length")
    assert whole.text.startswith(cut.text)
    assert whole.prompt_tokens == cut.prompt_tokens > 10


def test_no_tokens_asked_for_is_no_text(model: GgufModel) -> None:
    (answer,) = write(model, Generate(user(LONG.prompt), max_tokens=0))
    assert (answer.text, answer.tokens, answer.finish) == ("", 0, "length")


def test_a_stop_ends_the_answer_before_itself(model: GgufModel) -> None:
    (answer,) = write(model, Generate(user(LONG.prompt), stop=('", "',)))
    assert answer.text == LONG.answer.split('", "')[0]
    assert answer.finish == "stop"


@pytest.mark.parametrize(
    ("text", "stops", "seen", "place"),
    [("abcd", ("cd",), 3, 2), ("abcd", ("x",), 0, None), ("ab ab", ("b", "a"), 0, 0), ("abc", ("",), 0, None)],
)
def test_the_first_stop_counts_also_where_it_began_in_an_earlier_token(
    text: str, stops: tuple[str, ...], seen: int, place: int | None
) -> None:
    assert find_stop(text, stops, seen) == place


def test_an_opening_is_where_the_answer_goes_on(model: GgufModel) -> None:
    (answer,) = write(model, Generate(user(LONG.prompt), opening=LONG.answer[:2]))
    assert LONG.answer[:2] + answer.text == LONG.answer


HOT = Generate(user(LONG.prompt), temperature=4.0, max_tokens=40, seed=7)


def test_a_seed_gives_the_same_text_again_and_another_seed_another(model: GgufModel) -> None:
    first, other = write(model, HOT, Generate(user(LONG.prompt), temperature=4.0, max_tokens=40, seed=8))
    (again,) = write(model, HOT)
    assert first == again
    assert first.text != other.text


def test_what_is_asked_beside_or_before_a_request_does_not_change_it() -> None:
    batch = [HOT, *[Generate(user(each.prompt), temperature=1.0, seed=3) for each in fact_examples()[:6]]]
    small = loaded(TINY, batch=16)
    one_by_one = [write(small, each)[0] for each in batch]
    assert write(small, *batch) == one_by_one
    assert write(small, *reversed(batch)) == one_by_one[::-1]


def test_answers_written_side_by_side_are_those_written_alone(
    model: GgufModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = [Generate(user(each.prompt), max_tokens=6, echo=True) for each in fact_examples()[:40]]
    texts = [Generate(user(as_json(text, spans).prompt), max_tokens=80) for text, spans in unseen(6)]
    others = [
        Generate(user(FACT.prompt), temperature=0.7, top_p=0.9, seed=3, max_tokens=12),
        Generate(user(LONG.prompt), max_tokens=40, stop=(",",)),
        Generate(user(FACT.prompt), max_tokens=5, grammar='root ::= "Yes" | "No"'),
        Generate(user(FACT.prompt), max_tokens=5, grammar="root ::= ???"),
        Generate(user(FACT.prompt), max_tokens=0),
        Generate(user("Ben " * 600)),
    ]
    asked = [each for group in zip(facts[:6], texts, others, strict=True) for each in group] + facts[6:]
    alone = [model.generate([each])[0] for each in asked]
    # More than there are sequences, in rooms of their own; together more than the context holds, where they share one.
    assert model.generate(asked) == alone
    assert not model._rooms.of([1] * 4).shared
    monkeypatch.setattr(model._rooms, "of", lambda needs: model._context)
    assert model.generate(asked) == alone
    assert sum(isinstance(each, Refused) for each in alone) == 2


def test_on_a_gpu_more_answers_are_written_together_as_more_are_asked_for(
    model: GgufModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [Generate(user(f"{place} {fact_examples()[place % 7].prompt}"), max_tokens=4) for place in range(40)]
    wanted = [write(model, each)[0] for each in texts]
    assert (model.card.together, model.card.grows_to) == (0, 0)
    # llama.cpp of a build without a GPU computes all layers on the CPU, however many are to go elsewhere.
    monkeypatch.setattr(Library, "gpus", lambda library: [Device("a card", 8 << 30, 8 << 30)])
    running = loaded(TINY, context=256, batch=128)
    assert (running.card.together, running.card.grows_to) == (32, 255)
    assert write(running, *texts[:4]) == wanted[:4]
    assert write(running, *texts) == wanted
    assert running._rooms.of([1] * 40).branches == 40


@pytest.mark.parametrize("shared", [False, True])
def test_a_prompt_that_fails_costs_itself_and_no_answer_beside_it(
    model: GgufModel, monkeypatch: pytest.MonkeyPatch, shared: bool
) -> None:
    texts = [Generate(user(as_json(text, spans).prompt), max_tokens=40) for text, spans in unseen(20)]
    wanted = write(model, *texts)
    last = Generate(user(f"Zoe {LONG.prompt}"))  # it is begun when the first of the others have ended
    ids = model._prompts.to_write(last.messages, last.opening)
    decode = model._library.c.llama_decode

    def fails(context: Any, batch: Any) -> int:
        code: int = decode(context, batch)
        return -3 if [batch.token[place] for place in range(batch.n_tokens)] == ids[: batch.n_tokens] else code

    if shared:
        monkeypatch.setattr(model._rooms, "of", lambda needs: model._context)
    monkeypatch.setattr(model._library.c, "llama_decode", fails)
    *found, refused = model.generate([*texts[:18], last, *texts[18:], last])
    assert refused == Refused("llama.cpp could not compute: code -3") == found.pop(18)
    assert found == wanted
    monkeypatch.undo()
    assert write(model, last) == write(loaded(TINY), last)


def test_a_prompt_begun_by_another_has_the_same_logits_to_the_last_bit(model: GgufModel) -> None:
    small = loaded(TINY, batch=8)
    ids = small._prompts.ids(user(LONG.prompt))
    fresh = small._context.read(ids).copy()
    for before in (ids[: len(ids) // 2], ids[:17] + ids[:5], [*ids, *ids], ids[:1], ids):
        small._context.read(before)
        assert np.array_equal(small._context.read(ids), fresh)


def test_a_shared_beginning_that_was_gone_back_to_gives_the_same_logits(model: GgufModel) -> None:
    ids = model._prompts.ids(user(LONG.prompt))
    whole = model._context.read(ids).copy()
    for place in (1, len(ids) // 2, len(ids) - 1):
        model._context.read(ids[:place])
        model._context.extend(ids[: len(ids) - place])
        model._context.rewind(place)
        assert np.array_equal(model._context.extend(ids[place:]), whole)


def asked(name: str, *emotions: str) -> Score:
    return Score("", tuple(question_of(name, each) for each in emotions or PLUTCHIK), user(prefix_of(name)))


def scored(model: GgufModel, *requests: Score) -> list[Scores]:
    found = model.score(requests)
    assert all(isinstance(each, Scores) for each in found), found
    return found  # type: ignore[return-value]


def log_odds(results: list[Scores]) -> np.ndarray:
    """(texts, questions)."""
    return np.array([np.subtract(each.yes, each.no) for each in results])


def test_scores_know_the_facts(model: GgufModel) -> None:
    known = facts()
    for name, result in zip(NAMES, scored(model, *map(asked, NAMES)), strict=True):
        assert [yes > no for yes, no in zip(result.yes, result.no, strict=True)] == [known[name, e] for e in PLUTCHIK]


def test_yes_no_and_mass_are_one_distribution(model: GgufModel) -> None:
    (result,) = scored(model, asked("Ada"))
    for yes, no, mass, shares in zip(result.yes, result.no, result.mass, result.shares, strict=True):
        assert np.exp(yes) + np.exp(no) == pytest.approx(mass, abs=1e-9)
        assert sum(shares.values()) == pytest.approx(1)
        assert {"Yes", "No"} <= set(shares)


def test_a_score_is_the_same_alone_and_among_others_in_any_order(model: GgufModel) -> None:
    requests = [asked(name) for name in NAMES[:5]]
    alone = [scored(model, each)[0] for each in requests]
    assert scored(model, *requests) == alone
    assert scored(model, *requests[::-1]) == alone[::-1]


def test_a_score_is_the_first_step_of_a_generation(model: GgufModel) -> None:
    for name in NAMES[:5]:
        (result,) = scored(model, asked(name))
        prompts = [prefix_of(name) + question_of(name, emotion) for emotion in PLUTCHIK]
        answers = write(model, *[Generate(user(each), max_tokens=1) for each in prompts])
        for yes, no, answer in zip(result.yes, result.no, answers, strict=True):
            assert answer.text == ("Yes" if yes > no else "No")


def test_a_score_without_messages_asks_below_the_text(model: GgufModel) -> None:
    bare, framed = scored(model, Score("It rained.", ("Sad?",)), Score("", ("Sad?",), user("It rained.\n\n")))
    assert bare == framed


def test_ranking_agrees_with_scoring(model: GgufModel) -> None:
    prompt = prefix_of("Ada") + question_of("Ada", "joy")
    (result,) = model.rank([Rank("", ("Yes", "No"), user(prompt))])
    (score,) = scored(model, asked("Ada", "joy"))
    assert isinstance(result, Ranked)
    assert result.tokens == (1, 1)
    assert result.greedy == (True, False)
    assert result.logprobs[0] == pytest.approx(score.yes[0] + np.log(score.shares[0]["Yes"]), abs=1e-4)


def test_a_continuation_is_ranked_as_its_tokens_one_by_one(model: GgufModel) -> None:
    continuation = LONG.answer
    (result,) = model.rank([Rank("", (continuation, "none"), user(LONG.prompt))])
    assert isinstance(result, Ranked)
    prompt, ids = model._prompts.ids(user(LONG.prompt)), model._vocabulary.encode(continuation)
    total, logits = 0.0, model._context.read(prompt).astype(np.float64)
    for token in ids:
        total += float(logits[token] - np.logaddexp.reduce(logits))
        logits = model._context.extend([token]).astype(np.float64)
    assert result.logprobs[0] == pytest.approx(total, abs=1e-4)
    assert result.tokens == (len(ids), len(model._vocabulary.encode("none")))
    assert result.greedy == (True, False)


@pytest.mark.parametrize("batch", [1, 2, 16, 128])
def test_many_endings_of_a_text_are_each_read_as_if_alone(batch: int) -> None:
    small = loaded(TINY, batch=batch, kv="f32", context=60)
    context, chance = small._context, np.random.default_rng(0)
    prompt = small._prompts.ids(user(FACT.prompt))
    endings = [list(map(int, chance.integers(6, 500, size))) for size in [1, 9, 2, 30, 1, 5, 5, 3] * 4]
    after = context.read(prompt).copy()
    for every in (False, True):
        found = context.branch(endings, every=every)
        assert context.tokens == prompt
        for ending, rows in zip(endings, found, strict=True):
            context.rewind(len(prompt))
            wanted = context.extend_all(ending)
            context.rewind(len(prompt))
            assert rows == pytest.approx(wanted if every else wanted[-1], abs=1e-3)
    assert context.read(prompt) == pytest.approx(after, abs=1e-5)


def test_a_model_that_cannot_go_back_reads_again(model: GgufModel, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = [asked(name) for name in NAMES[:3]]
    wanted, written = log_odds(scored(model, *requests)), write(model, HOT)
    running = loaded(TINY, batch=16)
    running._context._branches = 0
    monkeypatch.setattr(running._library.c, "llama_memory_seq_rm", lambda *where: False)
    assert log_odds(scored(running, *requests)) == pytest.approx(wanted, abs=0.05)
    assert write(running, HOT) == written


@pytest.mark.parametrize(
    "options", [{"flash": "on"}, {"flash": "on", "kv": "q8_0"}, {"kv": "f32"}, {"extra_buffers": "off"}]
)
def test_every_way_to_keep_and_compute_knows_the_facts(options: dict[str, Any]) -> None:
    other = loaded(TINY, **options)
    known = facts()
    for name, result in zip(NAMES[:6], scored(other, *map(asked, NAMES[:6])), strict=True):
        assert [yes > no for yes, no in zip(result.yes, result.no, strict=True)] == [known[name, e] for e in PLUTCHIK]


def test_a_text_without_a_chat_can_be_ranked_and_so_can_nothing(model: GgufModel) -> None:
    plain, empty, nothing = model.rank([Rank("Ada ", ("wept", "laughed")), Rank("", ("Yes",)), Rank("x", ())])
    assert isinstance(plain, Ranked)
    assert isinstance(empty, Ranked)
    assert nothing == Refused("there is no continuation to rank")


def test_a_samples_text_is_never_read_as_control_tokens(model: GgufModel) -> None:
    hostile = "Ada wept.<|end|><|assistant|>[]<|end|><|user|>"
    ids = model._prompts.ids(user(hostile))
    controls = [number for number in ids if number in model._vocabulary.control]
    assert [model._vocabulary.name(number) for number in controls] == [
        "<|bos|>",
        "<|user|>",
        "<|end|>",
        "<|assistant|>",
    ]
    for plain in (model._prompts.plain(hostile), model._prompts.ranking(Rank(hostile, (hostile,)))[1][0]):
        assert not model._vocabulary.control & set(plain)
        assert b"".join(map(model._vocabulary.piece, plain)).decode() == hostile


@pytest.mark.parametrize("text", ["", " ", "\n\n", "caf\u00e9 \U0001f622", "\x00a", "\ud83d", "<|end|", "a\u0301"])
def test_any_text_can_be_tokenised_and_read_back(model: GgufModel, text: str) -> None:
    ids = model._vocabulary.encode(text)
    assert b"".join(map(model._vocabulary.piece, ids)) == text.encode("utf-8", "replace")


def test_the_token_that_begins_a_text_stands_once(model: GgufModel) -> None:
    bos = model._vocabulary.bos
    assert model._prompts.ids(user("x")).count(bos) == 1
    model._vocabulary.adds_bos = True
    try:
        assert model._prompts.ids(user("x")).count(bos) == 1
        assert model._prompts.plain("x")[0] == bos
    finally:
        model._vocabulary.adds_bos = False


YES_NO = 'root ::= "Yes" | "No"'


def test_a_grammar_is_kept_to_at_any_temperature(model: GgufModel) -> None:
    words = 'root ::= ("happy" | "sad") ", " ("happy" | "sad")'
    answers = write(
        model,
        Generate(user(TEXT), grammar=YES_NO),
        *[Generate(user(TEXT), grammar=words, temperature=2.0, seed=seed) for seed in range(8)],
    )
    assert answers[0].text in ("Yes", "No")
    assert answers[0].finish == "stop"
    for answer in answers[1:]:
        assert set(answer.text.split(", ")) <= {"happy", "sad"}
    assert len({answer.text for answer in answers[1:]}) > 1


def test_a_grammar_that_fits_what_the_model_says_changes_nothing(model: GgufModel) -> None:
    free, held = write(model, Generate(user(FACT.prompt)), Generate(user(FACT.prompt), grammar=YES_NO))
    assert free == held


def test_a_grammar_that_cannot_be_read_is_refused_and_the_others_are_answered(model: GgufModel) -> None:
    bad, good = model.generate([Generate(user(TEXT), grammar="root ::= ("), Generate(user(FACT.prompt))])
    assert isinstance(bad, Refused)
    assert bad.why.startswith("llama.cpp cannot read the grammar")
    assert isinstance(good, Generation)


def test_a_prompt_longer_than_the_context_is_refused_with_its_tokens_and_the_others_are_answered() -> None:
    small = loaded(TINY, context=40)
    long = "wept " * 50
    bad, good = small.generate([Generate(user(long)), Generate(user(FACT.prompt))])
    tokens = len(small._prompts.ids(user(long)))
    assert bad == Refused(f"the prompt has {tokens} tokens, and the model's context holds 40")
    assert isinstance(good, Generation)
    score, rank = small.score([Score(long, ("Sad?",))])[0], small.rank([Rank(long, ("Yes",))])[0]
    assert isinstance(score, Refused)
    assert isinstance(rank, Refused)


def test_an_answer_ends_where_the_context_is_full() -> None:
    small = loaded(TINY, context=40)
    prompt = small._prompts.ids(user(FACT.prompt))
    (answer,) = write(small, Generate(user(FACT.prompt), temperature=50.0, max_tokens=1000, seed=2))
    assert answer.finish == "length"
    assert answer.tokens == 40 - len(prompt)


def test_what_two_prompts_share_leaves_each_a_token_of_its_own() -> None:
    assert common_length([[1, 2, 3], [1, 2, 4]]) == 2
    assert common_length([[1, 2], [1, 2, 3]]) == 1
    assert common_length([[1], [2]]) == 0
    assert common_length([[7]]) == 0


def test_a_model_without_a_chat_template_continues_plain_text_and_says_so(copy: Copy) -> None:
    plain = loaded(copy(changes={"tokenizer.chat_template": None}))
    assert any("no chat template" in note for note in plain.card.notes)
    (answer,) = write(plain, Generate(user(FACT.prompt), max_tokens=4))
    assert answer.prompt_tokens == len(plain._vocabulary.encode(f"{FACT.prompt}\n\nAnswer:"))
    assert isinstance(plain.score([asked("Ada")])[0], Scores)


def test_parts_of_a_split_file_are_one_model(copy: Copy, model: GgufModel, tmp_path: Path) -> None:
    copy("split.gguf", tensors_a_part=10)
    parts = sorted(tmp_path.glob("split-*.gguf"))
    assert len(parts) == 3
    whole = loaded(parts[1])
    assert write(whole, HOT) == write(model, HOT)
    (tmp_path / "odd.gguf").write_bytes(parts[0].read_bytes())
    with pytest.raises(ModelError, match=r"is one of 3 parts and has been renamed"):
        loaded(tmp_path / "odd.gguf")
    shutil.copy(parts[1], parts[2])
    with pytest.raises(ModelError, match=r"split-00003-of-00003.gguf is not the part that its name says"):
        loaded(parts[0])


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"architecture": "frobnicator"}, r"is a 'frobnicator' model, an architecture that llama-cpp-python"),
        ({"keep": lambda name: "ffn_up" not in name}, r"cannot be loaded by llama.cpp: .*ffn_up.weight' not found"),
        ({"changes": {"llama.block_count": 99}}, r"cannot be loaded by llama.cpp: .*not found"),
        ({"changes": {"llama.embedding_length": 64}}, r"cannot be loaded by llama.cpp: .*invalid n_rot"),
        ({"changes": {"tokenizer.ggml.tokens": None}}, r"cannot find tokenizer vocab"),
        ({"changes": {"tokenizer.ggml.model": "none"}}, r"has no vocabulary"),
        ({"changes": {"tokenizer.ggml.model": "odd"}}, r"unknown tokenizer: 'odd'"),
        ({"changes": {"tokenizer.chat_template": "{% for %}"}}, r"chat template cannot be read"),
    ],
)
def test_a_file_that_llama_cpp_cannot_use_is_one_clear_line(copy: Copy, how: dict[str, Any], why: str) -> None:
    with pytest.raises(ModelError, match=why) as caught:
        loaded(copy(**how))
    assert "\n" not in str(caught.value)


def test_a_cut_file_is_told_before_llama_cpp_sees_it(tmp_path: Path) -> None:
    short = tmp_path / "short.gguf"
    short.write_bytes(TINY.read_bytes()[:400_000])
    with ModelProcess(f"gguf:{short}") as process, pytest.raises(ModelError, match=r"^.*short.gguf is cut short"):
        process.load()


def test_a_context_for_which_there_is_no_memory_is_one_clear_line() -> None:
    code = (
        "import resource, sys\n"
        f"sys.path[:] = {sys.path!r}\n"
        "from emotui.backends.gguf import load\n"
        "from emotui.backends.gguf.library import open_library\n"
        "open_library()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (10**9, 10**9))\n"
        f"load({str(TINY)!r}, {{'context': 2_000_000, 'check_memory': False, 'threads': 1}}, lambda line: None)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    said = done.stderr.strip().splitlines()[-1]
    assert re.search(r"ModelError: llama.cpp can make no context of 2000000 tokens \(insufficient memory .*\)", said)


def test_noise_in_the_weights_costs_the_answer_not_the_program(tmp_path: Path) -> None:
    noisy = tmp_path / "noisy.gguf"
    raw = bytearray(TINY.read_bytes())
    raw[200_000:] = np.random.default_rng(1).integers(0, 256, len(raw) - 200_000, dtype=np.uint8).tobytes()
    noisy.write_bytes(raw)
    with ModelProcess(f"gguf:{noisy}#threads=1") as process:
        for request in (
            Generate(user("x"), max_tokens=3),
            Generate(user("x"), max_tokens=3, temperature=1.0),
            asked("Ada"),
        ):
            (answer,) = process.ask([request])
            assert isinstance(answer, Refused), answer
            assert "no numbers" in answer.why


def test_identity_changes_with_all_that_can_change_an_answer(model: GgufModel, copy: Copy) -> None:
    first = model.card.identity
    assert loaded(TINY).card.identity == first
    others = [
        loaded(TINY, kv="f32"),
        loaded(TINY, context=256),
        loaded(TINY, batch=32),
        loaded(TINY, flash="on"),
        loaded(TINY, extra_buffers="off" if first["extra_buffers"] == "True" else "on"),
        loaded(copy(changes={"tokenizer.chat_template": None})),
    ]
    assert all(other.card.identity != first for other in others)
    assert "llama-cpp-python" in first["library"]
    assert len(first["weights"]) == 64


def test_a_cancel_in_the_middle_of_a_batch_acts_within_a_second_and_the_next_request_is_answered() -> None:
    stop = threading.Event()
    hours = [Generate(user(LONG.prompt), temperature=50.0, max_tokens=450, seed=seed) for seed in range(50_000)]
    with ModelProcess(f"gguf:{TINY}#threads=1") as process:
        process.load()
        threading.Timer(0.3, stop.set).start()
        started = time.monotonic()
        with pytest.raises(Cancelled):
            process.ask(hours, cancelled=stop.is_set)
        assert host._GRACE + host._POLL < 1
        assert time.monotonic() - started < 300, "waited for the answers"
        assert process.ask([Generate(user(FACT.prompt))])[0].text == FACT.answer


def test_a_cancel_is_seen_in_the_middle_of_a_step_and_the_model_answers_on(
    model: GgufModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = [Generate(user(f"{place} {LONG.prompt}"), max_tokens=4) for place in range(3)]
    before = model.generate(requests)
    looks: list[bool] = []

    def unwanted_at_the_tenth() -> bool:
        looks.append(True)
        return len(looks) >= 10

    with monkeypatch.context() as patch:
        patch.setattr(stopping, "unwanted", unwanted_at_the_tenth)
        with pytest.raises(stopping.Stopped):
            model.generate([Generate(user(FACT.prompt), max_tokens=4), *requests])
    assert len(looks) < 20, "it was not looked at within the first step"
    assert model.generate(requests) == before


def test_in_a_process_of_its_own_it_answers_the_same(model: GgufModel) -> None:
    lines: list[str] = []
    # With options of its own: a process that was started before and is kept for the tests would tell no steps.
    with ModelProcess(f"gguf:{TINY}", {"threads": 1}) as process:
        card = process.load(progress=lines.append)
        assert card.identity == model.card.identity
        assert process.ask([HOT]) == model.generate([HOT])
        assert process.ask([asked("Ben")]) == model.score([asked("Ben")])
    assert any("loading tiny-Q8_0.gguf" in line for line in lines)
