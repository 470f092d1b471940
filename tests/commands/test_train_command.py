"""`emotui train classifier`: what it reads, what it refuses, and that what it writes can be used."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from emotui.backends.tuning.recipe import Recipe
from emotui.commands.training import train_classifier as command
from emotui.errors import BadInput
from emotui.workbench.rephrase.evaluation import Contender, contender
from emotui.workbench.training import TrainingFiles, read_material, train_classifier
from tests.backends.tuning.material import base, examples, write_files
from tests.conftest import Emotui

GOLD = [
    {"id": "1", "text": "so glad", "label": "joy"},
    {"id": "2", "text": "so low", "label": "woe"},
    {"id": "3", "text": "so merry", "label": "joy"},
]


def attempt(text: str | None) -> dict[str, object]:
    return {"text": text, "predicted": "joy", "confidence": 0.9}


def chain(number: str, text: str, label: str, *attempts: dict[str, object] | None) -> dict[str, object]:
    return {"id": number, "text": text, "label": label, "attempts": attempts}


def lines(name: str, *records: dict[str, object]) -> str:
    Path(name).write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return name


def problems(files: TrainingFiles) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read_material(files, warn=print)
    return list(caught.value.problems)


@pytest.fixture
def gold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file of originals, in a folder of the test's own that it works in."""
    monkeypatch.chdir(tmp_path)
    return lines("gold.jsonl", *GOLD)


def test_rephrasings_are_matched_by_id_each_once_and_without_the_original(gold: str) -> None:
    chains = lines(
        "chains.jsonl",
        chain("3", "so merry", "joy", attempt("the bells rang"), attempt("so merry"), attempt("the bells rang")),
        chain("2", "so low", "woe"),
    )
    found = read_material(TrainingFiles(gold, chains), warn=print)
    assert [example.rephrasings for example in found.examples] == [(), (), ("the bells rang",)]
    assert found.sources["train"]["n"] == 3
    assert len(found.sources["rephrasings"]["fingerprint"]) == 64


def test_chains_that_do_not_fit_the_originals_are_told_line_by_line(gold: str) -> None:
    chains = lines(
        "chains.jsonl",
        chain("9", "who is this", "joy", attempt("nobody")),
        chain("1", "so  glad", "joy", attempt("light")),
        chain("2", "so low", "joy", attempt("heavy")),
        chain("3", "so merry", "joy", attempt("bells")),
    )
    expected = [
        "chains.jsonl:1: no record of gold.jsonl has the id '9'",
        "chains.jsonl:2: the original of '1' is another text than on line 1 of gold.jsonl",
        "chains.jsonl:3: the label of '2' is 'joy', but 'woe' on line 2 of gold.jsonl",
    ]
    assert problems(TrainingFiles(gold, chains)) == expected
    warned: list[str] = []
    kept = read_material(TrainingFiles(gold, chains), skip_bad=True, warn=warned.append)
    assert [example.rephrasings for example in kept.examples] == [(), (), ("bells",)]
    assert warned == [f"skipped {line}" for line in expected]


@pytest.mark.parametrize("hole", [None, {"predicted": "joy"}, attempt(None), attempt(""), attempt("  ")])
def test_a_chain_with_a_hole_is_told_with_its_line(gold: str, hole: dict[str, object] | None) -> None:
    holed = chain("3", "so merry", "joy", attempt("bells"), hole, attempt("kites"))
    chains = lines("chains.jsonl", chain("1", "so glad", "joy"), holed)
    (found,) = problems(TrainingFiles(gold, chains))
    assert found.startswith("chains.jsonl:2: ")


def test_one_label_an_empty_text_and_a_label_of_dev_alone_are_told(gold: str) -> None:
    assert problems(TrainingFiles(lines("joy.jsonl", GOLD[0], GOLD[2]))) == [
        "joy.jsonl:1: every record has the label 'joy': a classifier needs two labels"
    ]
    empty = lines("empty.jsonl", *GOLD, {"id": "4", "text": " ", "label": "joy"})
    assert problems(TrainingFiles(empty)) == ["empty.jsonl:4: the text of '4' is empty"]
    dev = lines("dev.jsonl", {"id": "d", "text": "calm", "label": "joy"}, {"id": "e", "text": "x", "label": "awe"})
    assert problems(TrainingFiles(gold, dev=dev)) == ["dev.jsonl:2: the label 'awe' is in no record of gold.jsonl"]
    assert problems(TrainingFiles(gold, dev_share=0.01)) == [
        "--dev-share 0.01 sets no record of gold.jsonl aside: there are too few"
    ]


def test_dev_texts_that_are_learnt_from_are_counted(gold: str) -> None:
    chains = lines("chains.jsonl", chain("3", "so merry", "joy", attempt("the bells rang")))
    dev = lines(
        "dev.jsonl",
        {"id": "d", "text": "The bells  rang", "label": "joy"},
        {"id": "e", "text": "so new", "label": "woe"},
    )
    assert read_material(TrainingFiles(gold, chains, dev), warn=print).notes == (
        "1 of 2 texts of dev.jsonl are learnt from too: its figures flatter",
    )


def test_bad_input_is_a_line_and_status_2_before_any_model_is_loaded(emotui: Emotui, gold: str) -> None:
    chains = lines("chains.jsonl", chain("9", "x", "joy", attempt("y")))
    bad = emotui("train", "classifier", "--base", "hf:nowhere", "--train", gold, "--rephrasings", chains)
    assert bad.status == 2
    assert bad.err == "chains.jsonl:1: no record of gold.jsonl has the id '9'\n"
    usage = emotui("train", "classifier", "--base", "hf:x", "--train", gold, "--dev", gold, "--dev-share", "0.2")
    assert usage.status == 2


@pytest.mark.parametrize(
    "option",
    [["--lr", "nan"], ["--kl-weight", "inf"], ["--dev-share", "nan"], ["--emlm-emotion", "nan"], ["--seed", "9" * 20]],
)
def test_a_number_that_is_none_is_bad_usage(emotui: Emotui, gold: str, option: list[str]) -> None:
    bad = emotui("train", "classifier", "--base", "hf:nowhere", "--train", gold, *option)
    assert bad.status == 2
    assert f"Invalid value for '{option[0]}'" in bad.err


def test_of_several_seeds_a_folder_that_is_taken_is_told_before_any_is_trained(gold: str, tmp_path: Path) -> None:
    model = base(tmp_path / "base")
    (tmp_path / "mood" / "seed-1").mkdir(parents=True)
    (tmp_path / "mood" / "seed-1" / "thesis.tex").write_text("")
    with pytest.raises(BadInput, match="seed-1 is not an empty folder"):
        train_classifier(f"hf:{model}", TrainingFiles(gold), "mood", Recipe(), seeds=2, warn=print)
    assert not (tmp_path / "mood" / "seed-0").exists()


def test_classifiers_of_several_seeds_are_trained_in_one_go_and_are_what_predict_and_score_take(
    emotui: Emotui, tmp_path: Path
) -> None:
    model = base(tmp_path / "base")
    gold, chains = write_files(tmp_path, examples(30))
    long = {"id": "long", "text": "so happy " * 12_000, "label": "joy"}
    gold.write_text(gold.read_text("utf-8") + json.dumps(long) + "\n", encoding="utf-8")
    arguments = [
        "--base", f"hf:{model}", "--train", str(gold), "--rephrasings", str(chains), "--dev-share", "0.2",
        "--to", str(tmp_path / "mood"), "--seeds", "2", "--epochs", "12", "--lr", "3e-3", "--batch", "8",
        "--threads", "1", "--json",
    ]  # fmt: skip
    ran = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert ran.exit_code == 0
    done = json.loads(ran.stdout)
    folders = [tmp_path / "mood" / f"seed-{seed}" for seed in range(2)]
    assert done["spec"] == f"mood=hf:{folders[0]},hf:{folders[1]}"
    assert contender(done["spec"]) == Contender("mood", tuple(f"hf:{folder}" for folder in folders))
    assert ran.stderr == "1 text is longer than 24 tokens: what comes after was cut off\n"
    assert [each["recipe"]["seed"] for each in done["models"]] == [0, 1]
    assert [each["n"] + each["dev_n"] for each in done["models"]] == [31, 31]
    assert all(each["epochs"][-1]["rephrasings_kl"] < 1 for each in done["models"])
    answers = tmp_path / "answers.jsonl"
    asked = emotui("predict", "class", "--model", f"hf:{folders[0]}", "--records", gold, "--to", answers)
    assert asked.status == 0
    report = emotui("score", "class", "--gold", gold, "--pred", answers, "--json").document
    assert report["n"] == 31
    assert report["macro_f1"] > 0.7
