"""Models that write: every way to break the contract of SEER's prompts, and what comes out of it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec import structs

from emotui.backends.host import Cancelled
from emotui.errors import BadInput
from emotui.metrics.span_output import parse_output
from emotui.records import Mark, Sentence, SpanSample
from emotui.store.store import Store
from emotui.tasks.prompting.settings import Writing, without_fence, without_thinking
from emotui.tasks.spans.prompts import RETRY_TEMPERATURE, ask_in_words, bare, breach, with_plain_labels
from emotui.tasks.spans.task import Prediction, Spans
from emotui.tasks.task import Asked, Parsed
from emotui.workbench.datasets.samples import add_experiment
from emotui.workbench.progress import RunOptions, RunProgress
from emotui.workbench.runs.export_rows import export_run
from emotui.workbench.runs.plan import identity
from emotui.workbench.runs.run import rescore, run_task
from emotui.workbench.runs.scores import last_attempts, metrics
from emotui.workbench.workspace import Workspace
from tests.backends.contract_backend import Contract
from tests.backends.installed_kind import install_kind
from tests.conftest import Emotui

KIND = "contract"
EVIDENCE = "wept again"


def sample(word: str) -> SpanSample:
    text = f"{word} at noon Ada wept again."
    start = text.index(EVIDENCE)
    return SpanSample(id=word, text=text, spans=(Mark(start, start + len(EVIDENCE)),))


def asked(word: str, way: str, **settings: object) -> Asked:
    (answer,) = ask_in_words([sample(word)], Contract().generate, way, [7], Writing(**settings))
    return answer


def parsed(word: str, way: str) -> Prediction:
    answer = asked(word, way)
    assert answer.raw is not None
    prediction = Spans().parse(sample(word), answer.raw, way)
    assert isinstance(prediction, Prediction)
    return prediction


@pytest.mark.parametrize(
    ("word", "way", "spans", "why", "tries"),
    [
        ("Yes", "retrieve", (EVIDENCE,), None, 1),
        ("UNBALANCED", "highlight", (), "a marker without a partner", 4),
        ("ALTERED", "highlight", (EVIDENCE,), "the text was changed", 4),
        ("BAR", "retrieve", ("wept", "again"), None, 1),  # indistinguishable from two spans, which the rule says it is
        ("NOLABEL", "retrieve-cot", (), "no Response:", 4),
        ("NOLABEL", "highlight-cot", (), "no Response:", 4),
        ("TWICE", "retrieve-cot", (EVIDENCE,), "more than one Response:", 4),
        ("EMPTY", "retrieve", (), None, 1),  # section 4.1: no spans is an answer
        ("EMPTY", "highlight", (), "the text was changed", 4),
        ("EMPTY", "retrieve-cot", (), "no Response:", 4),
        ("FENCED", "retrieve", (EVIDENCE,), None, 1),
        ("BOLD", "retrieve-cot", (EVIDENCE,), None, 1),
        ("THINK", "retrieve", (EVIDENCE,), None, 1),
        ("ENDLESS", "highlight", (), "the text was changed", 4),
        ("LINES", "retrieve", (f"- {EVIDENCE}\n- LINES",), "spans on more than one line", 4),
        ("SECOND", "highlight", (EVIDENCE,), None, 2),
        ("LONG", "retrieve", (EVIDENCE,), None, 2),
    ],
)
def test_what_comes_out_of_each_broken_contract(
    word: str, way: str, spans: tuple[str, ...], why: str | None, tries: int
) -> None:
    prediction = parsed(word, way)
    assert (prediction.spans, prediction.breach) == (spans, why)
    assert len(asked(word, way).before) + 1 == tries


def test_a_retry_has_the_next_seed_and_a_temperature_even_in_a_greedy_run() -> None:
    answer = asked("SEED", "retrieve")
    tries = [said.split()[:2] for said in (*answer.before, answer.raw or "")]
    assert tries == [["7", "0.0"], *([str(7 + n), str(RETRY_TEMPERATURE)] for n in (1, 2, 3))]
    warm = asked("SEED", "retrieve", temperature=1.5, retries=1)
    assert [said.split()[1] for said in (*warm.before, warm.raw or "")] == ["1.5", "1.5"]


def test_no_retries_take_the_first_answer_as_it_is() -> None:
    assert asked("SECOND", "highlight", retries=0).before == ()


def test_a_refused_sample_has_no_answer_and_says_why() -> None:
    answer = asked("REFUSED", "retrieve")
    assert (answer.raw, answer.why) == (None, "the prompt is too long")


def test_a_server_that_goes_away_in_a_retry_leaves_the_sample_open_and_a_refused_retry_does_not() -> None:
    lost = asked("LOST", "retrieve")
    assert lost == Asked(None, "the server is gone", lost.prompt, again=True)
    assert asked("STUCK", "retrieve").raw == f"{EVIDENCE}\nand more"


def test_the_prompt_is_kept_as_the_model_read_it() -> None:
    prompt = asked("Yes", "highlight-cot").prompt or ""
    assert prompt.startswith("[system]\n")
    assert prompt.endswith(sample("Yes").text)
    assert "Reasoning:" in prompt
    assert "**" in prompt


@pytest.mark.parametrize(
    ("output", "left"),
    [
        ("a", "a"),
        ("<think>b</think>a", "a"),
        ("\n<Think>\nb\n</Think>\n<thinking>c</thinking>a", "a"),
        ("b, so</think>\na", "\na"),
        ("<think>b", ""),
        ("a <think>b</think>", "a <think>b</think>"),
        ("", ""),
    ],
)
def test_thoughts_are_taken_from_the_beginning_only(output: str, left: str) -> None:
    assert without_thinking(output) == left


@pytest.mark.parametrize(
    ("output", "left"),
    [
        ("```\na\n```", "a"),
        ("\n```markdown\na\nb\n```\n", "a\nb"),
        ("````\n```\n````", "```"),
        ("so: ```a```", "so: ```a```"),
        ("```\na", "```\na"),
    ],
)
def test_a_fence_is_taken_off_where_it_encloses_all(output: str, left: str) -> None:
    assert without_fence(output) == left


@pytest.mark.parametrize("label", ["Response:", "**Response:**", "**Response**:", "## Response:", "### **Response:**"])
def test_a_label_in_markdown_is_a_label(label: str) -> None:
    output = with_plain_labels(f"Reasoning: x\n\n{label} I **am** glad.")
    assert output == "Reasoning: x\n\nResponse: I **am** glad."


def test_a_fence_behind_the_label_is_taken_off_too() -> None:
    text = "I am glad."
    output = bare("Reasoning: x\nResponse:\n```\nI **am glad**.\n```", cot=True)
    assert breach(output, "highlight", True, text) is None


WORDS = st.lists(st.text("abc.,'’ |`<>/", min_size=1, max_size=6), min_size=1, max_size=6)


@given(words=WORDS, marked=st.sets(st.integers(0, 5)))
def test_a_text_with_any_words_marked_keeps_the_contract_and_gives_just_those(
    words: list[str], marked: set[int]
) -> None:
    text = "".join(words)
    output = "".join(f"**{word}**" if place in marked else word for place, word in enumerate(words))
    assert breach(output, "highlight", False, text) is None
    assert breach(f"Reasoning: so.\nResponse: {output}", "highlight", True, text) is None
    spans = tuple(word for place, word in enumerate(words) if place in marked and word.strip())
    assert parse_output(output, "highlight", False, text).spans == spans


@given(words=WORDS, place=st.integers(0, 40), sign=st.sampled_from("xyz"))
def test_one_sign_more_breaks_it(words: list[str], place: int, sign: str) -> None:
    text = "".join(words)
    place = min(place, len(text))
    assert breach(text[:place] + sign + text[place:], "highlight", False, text) == "the text was changed"


@given(st.text("ab \n<>/think", max_size=30), st.text("ab|* ", max_size=20))
def test_an_answer_behind_thoughts_is_what_it_would_be_without_them(thoughts: str, answer: str) -> None:
    assume("</think" not in thoughts)
    assert without_thinking(f"<think>{thoughts}</think>{answer}") == answer


def test_sentences_and_passages_have_figures_of_their_own_where_a_dataset_has_both() -> None:
    one = sample("Yes")
    other = structs.replace(sample("Other"), sentences=(Sentence(start=0, end=27, emotion="sad"),))
    task = Spans()
    said = [Parsed(s, 0, task.parse(s, answer, "retrieve")) for s, answer in ((one, EVIDENCE), (other, "wept"))]
    scores = task.score(said, None)
    assert task.report([one, other], scores)["by_task"] == {
        "task_1": {"n": 1, "f1": 1.0, "sim": None},
        "task_2": {"n": 1, "f1": pytest.approx(2 / 3), "sim": None},
    }
    assert "by_task" not in task.report([one], scores[:1])


def test_markers_that_the_text_has_itself_need_no_partner() -> None:
    assert breach("what the f**k, **I am glad**", "highlight", False, "what the f**k, I am glad") is None


# Through the store, with the model in a process of its own.


@pytest.fixture
def contract(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind `contract:` here and in the child."""
    install_kind(monkeypatch, KIND, "tests.backends.contract_backend:load")


@pytest.fixture
def workspace(tmp_path: Path, contract: None) -> Iterator[Workspace]:
    records = [sample(word) for word in ("Yes", "EMPTY", "LINES", "REFUSED", "LONG", "SEED")]
    lines = [json.dumps({"id": s.id, "text": s.text, "spans": s.places}) for s in records]
    (tmp_path / "d.jsonl").write_text("\n".join(lines))
    workspace = Workspace(Store.open(tmp_path / "w.duckdb"))
    workspace.import_files([str(tmp_path / "d.jsonl")], "d")
    yield workspace
    workspace.close()


def test_a_run_keeps_every_attempt_counts_them_apart_and_exports_the_last(workspace: Workspace, tmp_path: Path) -> None:
    run = workspace.run_model("contract:", "d")
    assert (run.state, run.n, run.done, run.failed) == ("done", 6, 5, 1)
    rows = list(workspace.store.results.of_run(run.run))
    attempts = {number: [row.attempt for row in rows if row.sample == number] for number in {r.sample for r in rows}}
    assert sorted(map(len, attempts.values())) == [1, 1, 1, 2, 4, 4]
    assert all(found == list(range(len(found))) for found in attempts.values())
    assert all(row.prompt for row in rows)
    figures = workspace.summary(run.run)
    assert figures["answers"] == {
        "n": 5,
        "retried": 3,
        "retries": 7,
        "failed_format": 2,
        "failed_format_by_kind": {"spans on more than one line": 2},
        "empty": 1,
    }
    assert figures["n"] == 6  # one that was not answered counts as one that says nothing
    assert isinstance(figures["sim"], float)
    assert export_run(workspace.store, run.run, str(tmp_path / "p.jsonl")) == 6
    written = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert {line["id"]: line.get("output") for line in written}["LONG"] == EVIDENCE
    assert {line.get("style") for line in written} == {"retrieve", None}
    again = rescore(workspace.store, run.run, sim=False)
    assert metrics(workspace.store, again)["answers"] == figures["answers"]
    assert metrics(workspace.store, again)["f1"] == figures["f1"]


def test_everything_that_can_change_an_answer_is_in_the_runs_identity() -> None:
    card = Contract().card
    other = {"retrieve": {"user": "Look: {text}"}}
    changes: list[tuple[str, dict[str, object], int]] = [
        ("retrieve", {}, 1),
        ("highlight", {}, 1),
        ("retrieve-cot", {}, 1),
        ("retrieve", {"temperature": 0.5}, 1),
        ("retrieve", {"top_p": 0.5}, 1),
        ("retrieve", {"retries": 0}, 1),
        ("retrieve", {"max_tokens": 9}, 1),
        ("retrieve", {"prompts": other}, 1),
        ("retrieve", {}, 5),
    ]
    marks = [
        identity(Spans().with_options(options, repeats), {"asked": "a"}, card, 0, repeats, way)
        for way, options, repeats in changes
    ]
    assert len(set(marks)) == len(marks)


def test_repeats_are_drawn_with_different_seeds_at_a_temperature(workspace: Workspace) -> None:
    run = workspace.run_model("contract:", "d", RunOptions(repeats=2, options={"retries": 0}))
    said = [row.raw.split()[:2] for row in workspace.store.results.of_run(run.run) if row.raw and row.raw.endswith("!")]
    assert len(said) == 2
    assert said[0][0] != said[1][0]
    assert {temperature for _, temperature in said} == {"0.6"}


def test_a_run_that_was_stopped_goes_on_with_its_own_way_settings_and_seeds(workspace: Workspace) -> None:
    settings: dict[str, object] = {"retries": 1, "temperature": 0.9}

    def stop_after_one_batch(progress: RunProgress) -> None:
        if progress.done:
            workspace.stop()

    with pytest.raises(Cancelled):
        workspace.run_model(
            "contract:",
            "d",
            RunOptions(repeats=8, seed=3, way="highlight", options=settings),
            on_progress=stop_after_one_batch,
        )
    (stopped,) = workspace.store.runs.all()
    assert stopped.state == "stopped"
    assert 5 <= stopped.done < 40
    finished = workspace.run_model("contract:", "d", RunOptions(resume=stopped.run))
    again = workspace.run_model(
        "contract:", "d", RunOptions(repeats=8, seed=3, way="highlight", options=settings, fresh=True)
    )
    assert (
        (finished.state, finished.done, finished.failed) == (again.state, again.done, again.failed) == ("done", 40, 8)
    )

    def last(run: str) -> dict[tuple[int, int], str | None]:
        return {(row.sample, row.repeat): row.raw for row in last_attempts(workspace.store.results.of_run(run))}

    assert last(finished.run) == last(again.run)


def test_an_experiment_is_a_dataset_and_a_way_and_has_figures_of_its_own(workspace: Workspace) -> None:
    dataset = add_experiment(workspace.store, 0)
    assert add_experiment(workspace.store, 0) == dataset
    run = workspace.run_model("contract:copies", dataset.dataset, RunOptions(limit=12, way="experiment-0"))
    found = workspace.summary(run.run)["experiment"]
    assert isinstance(found, dict)
    cell = found["all"]
    figures = {"n": 12, "f1": 1.0, "sim": pytest.approx(1), "em": 1.0, "em_letters": 1.0}
    assert (found["number"], {name: cell[name] for name in figures}) == (0, figures)


def test_a_model_that_marks_evidence_itself_can_do_the_third_experiment_only(emotui: Emotui) -> None:
    third = emotui("run", "spans", "--experiment", 3, "--limit", 2, "--db", "w.duckdb", "--json")
    assert third.document["metrics"]["experiment"]["number"] == 3
    first = emotui("run", "spans", "--experiment", 1, "--db", "w.duckdb", "--json")
    assert (first.status, first.out) == (2, "")
    assert "embedded cannot be asked the spans task by 'experiment-1-retrieve': there is one way only" in first.err
    both = emotui("run", "spans", "--experiment", 1, "--dataset", "sample", "--db", "w.duckdb")
    assert (both.status, both.err) == (2, "--experiment has samples of its own: leave --dataset out\n")


def test_a_way_or_a_setting_that_a_model_has_not_is_one_sentence(workspace: Workspace) -> None:
    dataset = workspace.store.datasets.get("d")
    assert dataset is not None
    model = workspace.model("embedded")
    with pytest.raises(BadInput, match="embedded cannot be asked the spans task by 'highlight': there is one way only"):
        run_task(workspace.store, model, dataset, RunOptions(way="highlight"))
    with pytest.raises(BadInput, match="embedded writes no text, so these settings are not for it: temperature"):
        run_task(workspace.store, model, dataset, RunOptions(options={"temperature": 1.0}))
    with pytest.raises(BadInput, match=r"your prompts have none for retrieve: write a table \[retrieve\]"):
        workspace.run_model("contract:", "d", RunOptions(options={"prompts": {"highlight": {"user": "{text}"}}}))
    with pytest.raises(BadInput, match=r"temperature"):
        workspace.run_model("contract:", "d", RunOptions(options={"temperature": -1.0}))
