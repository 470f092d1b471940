"""Rephrasings that a model writes: read strictly, with the words to avoid told, and refused where a model cannot."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.backends.host import ModelProcess
from emotui.errors import BadInput, ModelError
from emotui.tasks.prompting.files import filled
from emotui.tasks.rephrase.suggesting import PROMPTS, parse_suggestions, read_suggestion_prompts, suggest, three_lines
from emotui.workbench.progress import RunProgress
from emotui.workbench.rephrase.live import explicit_words, words_to_avoid
from emotui.workbench.rephrase.views import CarryingWords
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui
from tests.paths import TESTS
from tests.workbench.rephrase.rephrasing_workspace import rephrasing_workspace

TINY = TESTS / "tiny" / "model"
ORIGINAL = "I am happy."


@pytest.mark.parametrize(
    "output",
    [
        "1. one day\n2. two days\n3. three days",
        "\n1) one day\n\n2) two days\n3) three days\n",
        "<think>1. no</think>\n1. one day\n2. two days\n3. three days",
        "```\n1. one day\n2. two days\n3. three days\n```",
        '1. "one day"\n2. “two days”\n3. three days',
        "**1.** one day\n**2.** two days\n**3.** three days",
    ],
)
def test_three_numbered_lines_are_read(output: str) -> None:
    assert parse_suggestions(output, ORIGINAL) == ["one day", "two days", "three days"]


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("", "three lines"),
        ("1. one\n2. two", "three lines"),
        ("1. one\n2. two\n3. three\n4. four", "three lines"),
        ("Sure! Here they are:\n1. one\n2. two\n3. three", "three lines"),
        ("1. one\n3. three\n2. two", "three lines"),
        ("- one\n- two\n- three", "three lines"),
        ("1. one\n2. two\n3. ...", "is empty"),
        ("1. one\n2. One\n3. three", "the original, or another one"),
        ("1. one\n2. i am happy.\n3. three", "the original, or another one"),
    ],
)
def test_anything_else_breaks_the_form(output: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_suggestions(output, ORIGINAL)


def test_quotation_marks_inside_a_line_stay() -> None:
    assert parse_suggestions('1. "a" and "b"\n2. b c\n3. c', ORIGINAL)[0] == '"a" and "b"'


LINE = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=8)


@given(st.lists(LINE.filter(lambda line: any(map(str.isalnum, line))), min_size=3, max_size=3))
def test_what_was_read_is_three_distinct_texts_none_of_them_the_original(lines: list[str]) -> None:
    try:
        found = parse_suggestions("\n".join(f"{k}. {line}" for k, line in enumerate(lines, start=1)), ORIGINAL)
    except ValueError:
        assert len({line.strip("\"'“”‘’«»").casefold() for line in lines}) < 3 or any(
            line.casefold() == ORIGINAL.casefold() for line in lines
        )
        return
    assert len({text.casefold() for text in (*found, ORIGINAL)}) == 4


def test_the_prompt_names_text_emotion_and_words() -> None:
    user = filled(PROMPTS["suggest"].user, {"text": "T", "emotion": "E", "words": "W"})
    assert all(f"{{{name}}}" not in user for name in ("text", "emotion", "words"))
    assert PROMPTS["suggest"].user.count("{text}") == 1


def test_a_prompt_file_needs_text_and_words(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text("[suggest]\nuser = 'Reword {text} for {emotion} without {words}'\n")
    assert read_suggestion_prompts(str(file))["suggest"].user.startswith("Reword")
    file.write_text("[suggest]\nuser = 'Reword {text}'\n")
    with pytest.raises(BadInput, match=r"suggest\.user: \{words\} should stand in it at least once"):
        read_suggestion_prompts(str(file))


def test_words_to_avoid_are_those_that_carry_the_gold_label_most() -> None:
    text = "so happy I cried"
    carrying = CarryingWords(1, text, "joy", "joy", ((0, 2, 0.1), (3, 8, 4.0), (9, 10, -1.0), (11, 16, 0.7)), ())
    assert words_to_avoid(carrying) == ["happy", "cried"]
    assert words_to_avoid(None) == []


def test_explicit_words_are_those_tied_to_the_labels_emotion() -> None:
    assert explicit_words("A happy child, happy and afraid", "joy") == ["happy", "child"]
    assert explicit_words("A happy child", "neutral") == []
    assert explicit_words("A happy child", "hunger") == []


@pytest.fixture(scope="module")
def models() -> Iterator[Workspace]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder, rephrasing_workspace(Path(folder)) as opened:
        yield opened


def test_a_model_that_cannot_write_says_so_with_the_kinds_that_can(models: Workspace) -> None:
    service = models.rephrasing()
    ann = service.begin("rephrase", "embedded", "ann")
    steps: list[RunProgress] = []
    with pytest.raises(ModelError, match=r"^embedded cannot generate; kinds of model that can: hf:, gguf:, openai:$"):
        service.suggest(ann, 1, "embedded", steps.append)
    assert [one.step for one in steps] == ["loading embedded"]


@pytest.mark.parametrize("spec", [f"hf:{TINY / 'hf'}", f"gguf:{TINY / 'tiny-F16.gguf'}"])
def test_a_model_that_breaks_the_form_is_held_to_it_by_a_grammar(models: Workspace, spec: str) -> None:
    pytest.importorskip("llguidance" if spec.startswith("hf:") else "llama_cpp")
    service = models.rephrasing()
    ann = service.begin("rephrase", "embedded", "ann")
    steps: list[RunProgress] = []
    found = service.suggest(ann, 1, spec, steps.append)
    assert len({one.text for one in found}) == 3
    assert f"asking {spec} for rephrasings" in [one.step for one in steps]
    for one in found:
        live = service.live(ann, 1, one.text, 0)
        assert (one.predicted, one.confidence) == (live.label, pytest.approx(live.gold_confidence, abs=1e-6))
        assert one.similarity == pytest.approx(live.similarity, abs=1e-6)
    assert service.chain(ann, 1).attempts == ()


def test_a_model_that_never_keeps_to_the_form_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llguidance")
    from emotui.tasks.rephrase import suggesting

    monkeypatch.setattr(suggesting, "three_lines", lambda longest: 'root ::= "Yes"')
    never = pytest.raises(ModelError, match="wrote no three rephrasings in 4 tries: it is not three lines")
    with ModelProcess(f"hf:{TINY / 'hf'}") as model, never:
        suggest(model, ORIGINAL, "joy", ["happy"])


def test_the_grammar_bounds_each_line() -> None:
    assert three_lines(10) == ('root ::= "1. " line "\\n2. " line "\\n3. " line\nline ::= [^ \\n\\r] [^\\n\\r]{1,9}\n')


def test_a_prompt_of_ones_own_is_kept_in_the_workspace_and_given_back(emotui: Emotui, tmp_path: Path) -> None:
    db, file = tmp_path / "x.duckdb", tmp_path / "p.toml"
    file.write_text("[suggest]\nuser = 'Reword {text} without {words}'\n")
    assert "three new versions" in emotui("rephrasings", "prompt", "--db", db).out
    assert emotui("rephrasings", "prompt", file, "--db", db).status == 0
    assert "Reword {text} without {words}" in emotui("rephrasings", "prompt", "--db", db).out
    assert emotui("rephrasings", "prompt", file, "--own", "--db", db).status == 2
    assert emotui("rephrasings", "prompt", "--own", "--db", db).status == 0
    assert "three new versions" in emotui("rephrasings", "prompt", "--db", db).out
    file.write_text("[suggest]\nuser = 'Reword {text}'\n")
    bad = emotui("rephrasings", "prompt", file, "--db", db)
    assert (bad.status, bad.err.startswith(f"{file}: suggest.user: {{words}} should stand")) == (2, True)


def test_the_command_suggests_for_one_text(emotui: Emotui) -> None:
    pytest.importorskip("llama_cpp")
    base = ("rephrasings", "suggest", "--text", "I am so happy today!", "--label", "Joy", "--json", "--model")
    got = emotui(*base, f"gguf:{TINY / 'tiny-F16.gguf'}").document
    assert len(got["suggestions"]) == 3
    assert all(0 <= one["confidence"] <= 1 for one in got["suggestions"])
    cannot = emotui(*base, "embedded")
    assert (cannot.status, cannot.out) == (1, "")
    assert cannot.err == "embedded cannot generate; kinds of model that can: hf:, gguf:, openai:\n"
