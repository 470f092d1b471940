"""--constrain: a grammar holds an answer to its form, whichever library writes it, and is part of a run's identity."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from emotui.backends import gguf, hf
from emotui.backends.base import Generate, Generation, Message
from emotui.backends.grammars import json_words, one_of, reasoned_answer, retrieved_line
from emotui.backends.hf import decoding
from emotui.errors import BadInput, ModelError
from emotui.metrics.span_output import parse_output
from emotui.tasks.prompting.settings import configured
from emotui.tasks.scenes.task import Scenes
from emotui.tasks.spans.task import Spans
from tests.backends.hf import models as hf_models
from tests.conftest import Emotui
from tests.paths import TINY
from tests.tiny.corpus import unseen

YES_OR_NO = "Yes", "No"
MODEL = TINY / "model"
LABELS = ['a "quoted" one', "two\nlines", "café \U0001f622", "back\\slash", "joy", "joyful", "joyful at last"]
GRAMMARS = {
    "yes or no": one_of(YES_OR_NO),
    "labels": one_of(LABELS),
    "line": retrieved_line(),
    "line behind reasons": retrieved_line("Response:"),
    "words": json_words(2),
    "reasons": reasoned_answer("<answer>", confidence=True),
}


def quiet(line: str) -> None: ...


@pytest.fixture(scope="module", params=["hf", "gguf"])
def model(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "gguf":
        pytest.importorskip("llama_cpp", reason="llama-cpp-python compiles for minutes: see docs/models.md")
        yield gguf.load(str(MODEL / "tiny-F16.gguf"), {"threads": 1}, quiet)
    else:
        pytest.importorskip("llguidance")
        yield hf.load(str(MODEL / "hf"), {"threads": 1, "device": "cpu"}, quiet)


def answers(model: Any, grammar: str, *, most: int = 120) -> list[Generation]:
    """Five answers to one question, greedy and wild, in one batch with one that is free."""
    prompt = (Message("user", "Evidence: Ada wept for hours."),)
    asked = [
        Generate(prompt, grammar=grammar, max_tokens=most, temperature=temperature, seed=seed)
        for seed, temperature in enumerate((0.0, 1.0, 3.0, 3.0, 8.0))
    ]
    *found, free = model.generate([*asked, Generate(prompt)])
    assert free.text == "wept for hours"
    assert all(isinstance(each, Generation) for each in found), found
    return found


def test_yes_or_no_and_labels_are_written_letter_for_letter(model: Any) -> None:
    assert {each.text for each in answers(model, one_of(YES_OR_NO))} <= {"Yes", "No"}
    assert {each.text for each in answers(model, one_of(LABELS))} <= set(LABELS)
    for label in LABELS:
        assert {each.text for each in answers(model, one_of([label]))} == {label}


def test_a_line_of_spans_is_one_line(model: Any) -> None:
    for each in answers(model, retrieved_line()):
        assert "\n" not in each.text
        if each.finish == "stop":
            assert parse_output(each.text, "retrieve", False, "x").invalid is None


def test_an_answer_behind_free_words_ends_in_its_form(model: Any) -> None:
    """The model ends its text as soon as the grammar lets it, so only what had no room stops short."""
    ended = [each for each in answers(model, retrieved_line("Response:"), most=400) if each.finish == "stop"]
    assert all(each.text.count("Response:") >= 1 and "\n" not in each.text.rpartition("Response:")[2] for each in ended)
    labelled = one_of(["Response: wept for hours"]).replace("root ::=", "root ::= [a-z]{0,3}")
    assert all(each.text.endswith("Response: wept for hours") for each in answers(model, labelled))


def test_a_list_of_words_is_json_of_that_length(model: Any) -> None:
    for each in answers(model, json_words(2), most=450):
        if each.finish == "stop":
            assert len(json.loads(each.text)) == 2


class Matcher:
    """A grammar at one place: llguidance's bits of which tokens may come next."""

    def __init__(self, allowed: set[int], tokens: int) -> None:
        self._bits = bytes(
            sum(1 << bit for bit in range(8) if 8 * byte + bit in allowed) for byte in range(4 * -(-tokens // 32))
        )

    def compute_bitmask(self) -> bytes:
        return self._bits

    def is_error(self) -> bool:
        return False


@pytest.mark.parametrize(("tokens", "logits"), [(64, 64), (37, 37), (37, 80), (64, 37), (40, 39)])
def test_a_logit_stays_as_it_is_where_a_token_may_follow_and_else_is_minus_infinity(tokens: int, logits: int) -> None:
    """A model may have more logits than its tokeniser has tokens, or fewer."""
    torch = pytest.importorskip("torch")
    allowed = {place for place in range(tokens) if place * place % 7 < 3}
    for kind in (torch.float32, torch.bfloat16):
        row = torch.linspace(-9, 9, logits, dtype=kind)
        row[:2] = torch.tensor([float("inf"), -0.0])
        wanted = [value if place in allowed else float("-inf") for place, value in enumerate(row.tolist())]
        decoding.Grammar(Matcher(allowed, tokens)).narrow(row)
        assert (row.tolist(), row.dtype) == (wanted, kind)
    with pytest.raises(ModelError, match="no token that could follow"):
        decoding.Grammar(Matcher({logits + 1}, logits + 2)).narrow(torch.zeros(logits))


def test_both_libraries_allow_the_same_tokens_at_every_step() -> None:
    """Of tokens that are whole characters: llama.cpp lets bytes through that no text has, and control tokens."""
    pytest.importorskip("llama_cpp")
    pytest.importorskip("llguidance")
    from emotui.backends.gguf.writing import Grammar
    from emotui.backends.hf.loading import load_model
    from emotui.backends.hf.settings import Settings

    native = gguf.load(str(MODEL / "tiny-F16.gguf"), {"threads": 1}, quiet)
    loaded = load_model(MODEL / "hf", Settings(threads=1, device="cpu"), quiet)
    ends = frozenset([loaded.tokenizer.eos_token_id])
    grammars = decoding.Grammars(loaded, ends)
    torch = pytest.importorskip("torch")
    chance = random.Random(1)
    size = len(loaded.tokenizer)
    whole = {token for token in range(size) if not set("\ufffd\0") & set(loaded.tokenizer.decode([token]))}
    whole -= native._vocabulary.control - ends
    steps = 0
    for name, text in GRAMMARS.items():
        for _ in range(4):
            theirs = Grammar(native._library, native._vocabulary, text)
            (ours,) = grammars.begin([Generate((), grammar=text)])
            for _ in range(25):
                flat = torch.zeros(size)
                ours.narrow(flat)
                allowed = set(torch.isfinite(flat).nonzero().flatten().tolist())
                allowed &= whole
                expected = {token for token in whole if theirs.allows(token)}
                assert allowed == expected, (name, allowed ^ expected)
                token = chance.choice(sorted(allowed))
                if token in ends:
                    break
                steps += 1
                ours.accept(token)
                theirs.accept(token)
            theirs.close()
    assert steps > 100


def test_an_encoder_decoder_keeps_to_a_grammar_too(tmp_path: Path) -> None:
    pytest.importorskip("llguidance")
    model = hf.load(str(hf_models.t5(tmp_path / "t5")), {"threads": 1, "device": "cpu"}, quiet)
    (found,) = model.generate([Generate((Message("user", "how"),), grammar=one_of(["c", "ab"]), max_tokens=20)])
    assert found.text in ("c", "ab")


def test_without_llguidance_the_whole_batch_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    model = hf.load(str(MODEL / "hf"), {"threads": 1, "device": "cpu"}, quiet)
    monkeypatch.setattr(decoding, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"pip install 'llguidance>=1', or run without --constrain"):
        model.generate([Generate((Message("user", "x"),), grammar=one_of(YES_OR_NO))])
    assert len(model.generate([Generate((Message("user", "x"),), max_tokens=2)])) == 1


@pytest.mark.parametrize("bad", ['root ::= "a', "root ::= other", ""])
def test_a_grammar_that_cannot_be_read_is_told_in_one_line(bad: str) -> None:
    pytest.importorskip("llguidance")
    model = hf.load(str(MODEL / "hf"), {"threads": 1, "device": "cpu"}, quiet)
    with pytest.raises(ModelError, match="grammar") as caught:
        model.generate([Generate((Message("user", "x"),), grammar=bad)])
    assert "\n" not in str(caught.value)


def test_the_grammar_is_part_of_a_runs_identity_and_its_absence_changes_nothing() -> None:
    for task, way in ((Spans(), "retrieve"), (Spans(), "retrieve-cot"), (Scenes(), "reasoned")):
        plain = task.settings(way)
        held = task.with_options({"constrain": True}, 1).settings(way)
        assert "grammar" not in plain
        assert held == plain | {"grammar": held["grammar"]}
        assert task.with_options({"constrain": False}, 1).settings(way) == plain


def test_a_way_without_a_form_refuses_the_option() -> None:
    held = Spans().with_options({"constrain": True}, 1)
    for way in ("highlight", "highlight-cot", "experiment-0", "experiment-1-highlight"):
        with pytest.raises(BadInput, match="--constrain is for retrieve"):
            held.settings(way)
    for way in ("heads", "first-token"):
        with pytest.raises(BadInput, match=f"--constrain is not for {way}"):
            configured(Scenes(), way, {"constrain": True}, 1)


def test_confidence_is_asked_of_the_grammar_where_the_prompt_asks_for_it() -> None:
    own = {"reasoned": {"user": "{text} {subject} {emotion}? End with <answer>."}}
    held = Scenes().with_options({"constrain": True, "prompts": own}, 1).settings("reasoned")
    assert "confidence" not in str(held["grammar"])
    assert "confidence" in str(Scenes().with_options({"constrain": True}, 1).settings("reasoned")["grammar"])


@pytest.fixture
def records(tmp_path: Path) -> Path:
    lines = [msgspec.json.encode({"id": str(n), "text": text, "spans": []}) for n, (text, _) in enumerate(unseen(6))]
    path = tmp_path / "texts.jsonl"
    path.write_bytes(b"\n".join(lines))
    return path


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    """Ones that the tiny model was trained on, and that fit into its context."""
    path = tmp_path / "own.toml"
    path.write_text('[retrieve]\nuser = "Evidence: {text}"\n')
    return path


def test_predict_and_run_take_the_option(emotui: Emotui, records: Path, prompts: Path) -> None:
    pytest.importorskip("llguidance")
    asked = ["--model", f"hf:{MODEL / 'hf'}", "--prompts", prompts, "--max-tokens", 40]
    got = emotui("predict", "spans", "--records", records, "--constrain", *asked, "--json")
    assert got.status == 0, got.err
    assert [one["output"] for one in got.document["records"]] == [" | ".join(spans) or "none" for _, spans in unseen(6)]
    ran = emotui("run", "spans", "--dataset", records, "--constrain", *asked, "--json").document
    free = emotui("run", "spans", "--dataset", "texts", *asked, "--json").document
    again = emotui("run", "spans", "--dataset", "texts", "--constrain", *asked, "--json").document
    assert ran["run"] != free["run"]
    assert (again["run"], again["failed"]) == (ran["run"], 0)


def test_what_has_no_form_is_bad_usage_in_one_line(emotui: Emotui, records: Path) -> None:
    for kind, more in (("spans", ("--style", "highlight", "--model", f"hf:{MODEL / 'hf'}")), ("spans", ())):
        got = emotui("predict", kind, "--records", records, "--constrain", *more)
        assert (got.status, got.err.count("\n")) == (2, 1), got.err
