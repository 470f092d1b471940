"""The prompts of the scenes task: this project's own, and a user's file, down to what a real model is asked."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.backends.base import Generate, Generation, Message, Request, Score, Scores
from emotui.errors import BadInput
from emotui.records import PLUTCHIK, ScenesGold
from emotui.store.store import Store
from emotui.tasks.prompting.files import Prompt, filled
from emotui.tasks.prompting.settings import check_options
from emotui.tasks.scenes.asking import (
    PROMPTS,
    QUESTION,
    REASONING,
    SCENE,
    SOMEONE,
    WAYS,
    questions,
    read_scenes_prompts,
    scene_fields,
    shared_and_asked,
)
from emotui.tasks.scenes.task import Scenes
from tests.conftest import Emotui
from tests.paths import CHECKOUT
from tests.tiny.corpus import facts

MODEL = f"hf:{CHECKOUT / 'tests' / 'tiny' / 'model' / 'hf'}"
FACT = "[first-token]\nuser = '''\n{text}\nDoes {subject} feel {emotion}? Answer Yes or No.'''\n"
"""As the tiny model was asked in its training."""


def sample(text: str = "Ines read the letter twice.", subject: str | None = "Ines") -> ScenesGold:
    return ScenesGold(id="s-1", text=text, subject=subject, labels=dict.fromkeys(PLUTCHIK, 0))


def written(folder: Path, content: str) -> str:
    path = folder / "p.toml"
    path.write_text(content, encoding="utf-8")
    return str(path)


def requests_of(prompts: dict[str, Any], way: str, about: ScenesGold) -> list[Request]:
    """All that a model is asked, by a model that says yes after a word of reasoning."""
    asked: list[Request] = []

    def model(requests: Any) -> list[object]:
        asked.extend(requests)
        return [
            Generation("So. <confidence>2</confidence> ", 9, 9, "stop")
            if isinstance(request, Generate)
            else Scores(*[(-1.0,) * len(request.questions)] * 3)
            for request in requests
        ]

    (answer,) = Scenes().with_options({"prompts": prompts}, 1).ask([about], model, way, (0,))
    assert answer.raw is not None, answer.why
    return asked


def test_this_projects_own_share_the_scene_and_part_at_the_question() -> None:
    assert tuple(PROMPTS) == (*WAYS, "nli")
    assert shared_and_asked(PROMPTS["first-token"]) == (SCENE, QUESTION)
    assert shared_and_asked(PROMPTS["reasoned"]) == (SCENE, REASONING)


words = st.text("ab {}\n\\1", max_size=12)


@given(words, words, words, words, words)
def test_shared_part_and_question_are_the_whole_message_wherever_the_emotion_stands(
    before: str, between: str, after: str, text: str, subject: str
) -> None:
    prompt = Prompt(f"{before}{{text}}{between}{{subject}} {{emotion}}{after}")
    shared, asked = shared_and_asked(prompt)
    fields = scene_fields(text, subject)
    whole = [filled(prompt.user, {**fields, "emotion": emotion}) for emotion in PLUTCHIK]
    got = questions(asked, fields, PLUTCHIK)
    assert [filled(shared, fields) + question for question in got] == whole
    assert "{emotion}" not in shared
    assert all(got)


@pytest.mark.parametrize("text", ["{subject} {emotion} {0} \\1 $1", "{text}", "a\n\nb"])
def test_a_scenario_is_put_in_as_it_is(text: str) -> None:
    prompts = {"first-token": {"user": "{text}|{subject}|{emotion}?"}}
    (request,) = requests_of(prompts, "first-token", sample(text))
    assert isinstance(request, Score)
    assert request.questions[0] == f"{text}|Ines|joy?"


def test_first_token_asks_the_files_own_words_after_a_shared_beginning() -> None:
    prompts = {
        "first-token": {"user": "Read: {text}\nIs {subject} in {emotion}, really {emotion}?", "system": "Short."}
    }
    (request,) = requests_of(prompts, "first-token", sample(subject=None))
    assert isinstance(request, Score)
    assert request.messages == (Message("system", "Short."), Message("user", "Read: Ines read the letter twice.\n"))
    assert request.questions == tuple(f"Is {SOMEONE} in {name}, really {name}?" for name in PLUTCHIK)


def test_reasoned_writes_and_scores_with_the_same_words(tmp_path: Path) -> None:
    """Laid out as the paper's (appendix E): rules and a rubric with tags, the question, and a note behind it."""
    user = "Scene:\n{text}\nWho:\n{subject}\nQ:\nDoes {subject} feel {emotion}?\nNote:\nKeep  to the order. \n"
    system = "Rules \n1. think\n• <confidence>1</confidence> : a guess\n• {set} \\ “quoted”"
    path = written(tmp_path, f"[reasoned]\nsystem = '''\n{system}'''\nuser = '''\n{user}'''\n")
    read = read_scenes_prompts(path)
    assert read == {"reasoned": Prompt(user, system)}
    asked = requests_of(msgspec.to_builtins(read), "reasoned", sample())
    for place, name in enumerate(PLUTCHIK):
        whole = user.replace("{text}", "Ines read the letter twice.").replace("{subject}", "Ines")
        whole = whole.replace("{emotion}", name)
        writing, scoring = asked[place], asked[place + 8]
        assert isinstance(writing, Generate)
        assert isinstance(scoring, Score)
        assert writing.messages == (Message("system", system), Message("user", whole))
        assert scoring.messages[-1].content + scoring.questions[0] == whole
        assert scoring.messages[0] == Message("system", system)
        assert scoring.opening == "So. <confidence>2</confidence> <answer>"


def test_prompts_are_part_of_the_identity_and_other_settings_are_refused() -> None:
    own = Scenes().with_options({"prompts": {"first-token": {"user": "{text} {subject} {emotion}"}}}, 1)
    assert own.settings("first-token") != Scenes().settings("first-token")
    with pytest.raises(BadInput, match=r"your prompts have none for reasoned: write a table \[reasoned\]"):
        own.settings("reasoned")
    with pytest.raises(BadInput, match="--prompts is not for heads, where a model is not asked to write"):
        check_options(own, ["prompts"], "heads")
    with pytest.raises(BadInput, match="the scenes task has no setting 'temperature'"):
        Scenes().with_options({"temperature": 0.5}, 1)
    with pytest.raises(BadInput, match=r"the settings of a scenes run: .*missing required field `user`"):
        Scenes().with_options({"prompts": {"first-token": {}}}, 1)


GOOD = "[first-token]\nuser='{text} {subject} {emotion}'\n"
BAD = [
    ("[first-token]\nuser = {text}\n", "p.toml:2: this is no TOML:"),
    ("", "p.toml: there is no prompt in it; write a table for at least one of: first-token, reasoned"),
    ("[retrieve]\nuser='{text}'", "p.toml: retrieve: no setting has this name; there are: first-token, reasoned"),
    ("[reasoned]\nsystem='x'", "p.toml: reasoned.user: is missing"),
    ("[reasoned]\nuser='{subject} {emotion}'", "p.toml: reasoned.user: {text} should stand in it once"),
    ("[reasoned]\nuser='{text} {emotion}'", "p.toml: reasoned.user: {subject} should stand in it at least once"),
    ("[reasoned]\nuser='{text} {subject}'", "p.toml: reasoned.user: {emotion} should stand in it at least once"),
    (f"{GOOD}sytem='x'", "p.toml: first-token.sytem: no such key; there are: system, user"),
    (f"{GOOD}system='About {{emotion}}.'", "p.toml: first-token.system: {emotion} belongs in user"),
]


@pytest.mark.parametrize(("content", "message"), BAD)
def test_a_wrong_file_is_told_by_its_line_or_key(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_scenes_prompts(written(tmp_path, content))
    assert message in str(caught.value)


def test_the_example_in_the_docs_is_read(tmp_path: Path) -> None:
    account = (CHECKOUT / "docs" / "models.md").read_text(encoding="utf-8")
    example = account.split("## Prompts for scenes")[1].split("```toml\n")[1].split("```")[0]
    assert tuple(read_scenes_prompts(written(tmp_path, example))) == WAYS


# The command line, with the tiny model and with the embedded one.


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """Ten people of whom the tiny model knows by heart what they feel; the prompts lie beside the file."""
    (tmp_path / "p.toml").write_text(FACT)
    known = facts()
    names = list(dict.fromkeys(name for name, _ in known))[:10]
    rows = [
        {"id": name, "text": f"Think of {name}.", "subject": name, "labels": {e: int(known[name, e]) for e in PLUTCHIK}}
        for name in names
    ]
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_run_and_predict_ask_in_the_files_words_and_keep_them(emotui: Emotui, gold: Path) -> None:
    asked = ("scenes", "--model", MODEL, "--prompts", "p.toml", "--way", "first-token", "--json")
    done = emotui("run", *asked, "--dataset", gold, "--db", "w.duckdb")
    assert done.status == 0, done.err
    assert (done.document["done"], done.document["metrics"]["vector_accuracy"]) == (10, 1.0)
    again = emotui("run", "scenes", "--resume", done.document["run"], "--db", "w.duckdb", "--json")
    assert again.document["metrics"] == done.document["metrics"]
    predicted = emotui("predict", *asked, "--records", gold, "--to", "said.jsonl")
    assert predicted.status == 0, predicted.err
    scored = emotui("score", "scenes", "--gold", gold, "--pred", "said.jsonl", "--json").document
    assert scored["vector_accuracy"] == 1.0
    store = Store.open(gold.parent / "w.duckdb")
    (run,) = store.runs.all()
    assert run.config["way"] == "first-token"
    assert run.config["options"]["prompts"]["first-token"]["user"].startswith("{text}\nDoes {subject}")
    rows = list(store.results.of_run(run.run))
    assert (rows[0].prompt or "").startswith("[user]\nThink of Ada.\n\nDoes Ada feel joy? Answer Yes or No.\nDoes Ada")


def test_without_a_file_predict_asks_what_run_asks(emotui: Emotui, gold: Path) -> None:
    few = gold.parent / "few.jsonl"
    few.write_text("".join(gold.read_text().splitlines(keepends=True)[:2]))
    for arguments in (
        ("run", "scenes", "--model", MODEL, "--dataset", few, "--db", "w.duckdb"),
        ("predict", "scenes", "--model", MODEL, "--records", few, "--to", "said.jsonl"),
    ):
        done = emotui(*arguments, "--json")
        assert done.status == 0, done.err
    (run,) = emotui("runs", "--db", "w.duckdb", "--json").document
    assert emotui("export", run["run"], "--to", "kept.jsonl", "--db", "w.duckdb").status == 0
    said, kept = (
        [json.loads(line)["scores"] for line in (gold.parent / name).read_text().splitlines()]
        for name in ("said.jsonl", "kept.jsonl")
    )
    for one, other in zip(said, kept, strict=True):
        assert {name: pytest.approx(values, abs=1e-4) for name, values in other.items()} == one


def test_a_way_that_the_file_has_no_table_for_is_refused(emotui: Emotui, gold: Path) -> None:
    asked = ("predict", "scenes", "--model", MODEL, "--records", gold, "--prompts", "p.toml", "--way", "reasoned")
    refused = emotui(*asked)
    assert (refused.status, refused.out) == (2, "")
    assert "your prompts have none for reasoned: write a table [reasoned]" in refused.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "p.toml: cannot be read"),
        ("[reasoned\n", "p.toml:1: this is no TOML"),
        ("[first-token]\nuser='{text} {subject}'", "p.toml: first-token.user: {emotion} should stand"),
        ("[first-token]\nusr='x'", "p.toml: first-token.usr: no such key"),
    ],
)
@pytest.mark.parametrize("command", ["run", "predict"])
def test_a_wrong_file_ends_the_command_with_2(
    emotui: Emotui, gold: Path, command: str, content: str | None, message: str
) -> None:
    file = gold.parent / "p.toml"
    file.unlink() if content is None else file.write_text(content)
    where = ("--dataset", gold, "--db", "w.duckdb") if command == "run" else ("--records", gold)
    done = emotui(command, "scenes", "--model", MODEL, "--prompts", "p.toml", *where)
    assert (done.status, done.out) == (2, "")
    assert message in done.err
    assert not (gold.parent / "w.duckdb").exists()


@pytest.mark.parametrize(
    ("kind", "message"), [("scenes", "is not asked to write"), ("class", "first-token: no setting has this name")]
)
def test_prompts_for_what_is_not_asked_in_words_are_refused(
    emotui: Emotui, gold: Path, kind: str, message: str
) -> None:
    done = emotui("predict", kind, "--records", gold, "--prompts", "p.toml")
    assert (done.status, done.out) == (2, "")
    assert message in done.err
