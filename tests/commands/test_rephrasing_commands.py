"""`emotui rephrasings`: the documents that the formats promise, files in and out, and a clear line for bad ones."""

import json
from pathlib import Path

import pytest

from emotui.formats import read, write
from emotui.records import Attempt, Chain, ClassGold
from emotui.workbench.rephrase.files import Rephrased
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui
from tests.paths import CHECKOUT

SAMPLE = CHECKOUT / "sample_data" / "rephrasings.jsonl"


def put(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "chains.jsonl"
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return path


def row(key: str, *said: str, **more: object) -> dict[str, object]:
    attempts = [{"text": f"{key}{k}", "predicted": label, "confidence": 0.5} for k, label in enumerate(said, start=1)]
    return {"id": key, "text": f"{key}0", "label": "joy", "attempts": attempts, "predicted": "joy"} | more


def test_the_sets_are_what_the_formats_promise(emotui: Emotui, tmp_path: Path) -> None:
    chains = put(tmp_path, row("a", "joy", "fear"), row("b", predicted="anger"), row("c", "joy", skipped=True))
    got = emotui("rephrasings", "sets", "--chains", chains, "--json").document
    assert (got["t_correct"], got["t_incorrect"]) == (["a", "c"], ["b"])
    assert got["sets"]["1R"] == [
        {"id": "a", "text": "a1", "label": "joy"},
        {"id": "b", "text": "b0", "label": "joy"},
        {"id": "c", "text": "c1", "label": "joy"},
    ]
    assert [record["text"] for record in got["sets"]["4R"]] == ["a2", "b0"]
    assert got["rounds"]["succeeded"] == {"1R": 0, "2R": 1, "3R": 0, "4R": 0}
    assert (got["rounds"]["failed"], got["rounds"]["skipped"]) == (0, 1)
    assert list(got["rounds"]["mean_explicit_words"]) == ["original", "1R", "2R", "3R", "4R"]


def test_the_sets_are_written_as_files_that_other_commands_read(emotui: Emotui, tmp_path: Path) -> None:
    got = emotui("rephrasings", "sets", "--chains", SAMPLE, "--to", tmp_path / "sets", "--json").document
    for name, file in got["files"].items():
        records = read(file, ClassGold).records
        assert [(one.id, one.text) for one in records] == [(one["id"], one["text"]) for one in got["sets"][name]]
    assert set(got["files"]) == {"1R", "2R", "3R", "4R"}


def test_standard_input_is_read(emotui: Emotui) -> None:
    done = emotui("rephrasings", "sets", "--chains", "-", "--json", stdin=SAMPLE.read_bytes())
    assert len(done.document["t_correct"]) == 71


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (
            row("b") | {"attempts": [{"text": "x", "predicted": "joy"}, None]},
            "`attempts[1]` must be an object, not null",
        ),
        (row("b") | {"attempts": [{"text": "x"}]}, "`predicted` is missing in `attempts[0]`"),
        (row("b") | {"attempts": [{"text": "x", "predicted": ""}]}, "`predicted` of attempt 1 is empty"),
        (row("b") | {"attempts": [{"text": " ", "predicted": "joy"}]}, "the text of attempt 1 is empty"),
        (
            row("b") | {"attempts": [{"text": "x" * 102_400, "predicted": "joy"}]},
            "attempt 1 has 102,400 characters; a rephrasing has at most 20,000",
        ),
        (
            row("b") | {"attempts": [{"text": "x", "predicted": "joy", "confidence": 1.5}]},
            "`confidence` of attempt 1 must be from 0 to 1, not 1.5",
        ),
        (
            row("b") | {"attempts": [{"text": "x", "predicted": "joy", "similarity": -2}]},
            "`similarity` of attempt 1 must be from -1 to 1, not -2.0",
        ),
        (row("b") | {"text": " "}, "the original's text is empty"),
        (row("a"), "duplicate id 'a': already on line 1"),
        ('{"id": "b", "text"\n', "not JSON"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["sets", "statistics"])
def test_a_bad_chain_has_its_line_and_nothing_is_done(
    emotui: Emotui, tmp_path: Path, command: str, line: object, problem: str
) -> None:
    chains = put(tmp_path, row("a", "fear"), "\n", line)
    done = emotui("rephrasings", command, "--chains", chains, "--json")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"{chains}:3: {problem}")
    assert len(done.err.splitlines()) == 1


def test_bad_chains_can_be_left_out(emotui: Emotui, tmp_path: Path) -> None:
    chains = put(tmp_path, row("a", "fear"), row("b") | {"attempts": [{"text": "", "predicted": "joy"}]})
    done = emotui("rephrasings", "sets", "--chains", chains, "--skip-bad", "--json")
    assert done.document["t_correct"] == ["a"]
    assert "skipped" in done.err


def test_statistics_take_automatic_variants_as_columns(emotui: Emotui, tmp_path: Path) -> None:
    variants = CHECKOUT / "sample_data" / "rephrasings_variants.jsonl"
    got = emotui("rephrasings", "statistics", "--chains", SAMPLE, "--variants", f"rule={variants}", "--json").document
    columns = got["columns"]
    assert list(columns) == ["original", "T_incorrect", "rule", "R1", "R2", "R3", "R4", "successful"]
    assert columns["rule"]["n"] == columns["original"]["n"] == got["t_correct"]
    assert columns["R1"]["mean_explicit_words"] > columns["R4"]["mean_explicit_words"]
    assert columns["R1"]["kl"] < columns["R4"]["kl"]
    assert "D(original || column)" in got["notes"]["kl"]


def test_bad_variants_are_told(emotui: Emotui, tmp_path: Path) -> None:
    chains = put(tmp_path, row("a", "fear"))
    strays = tmp_path / "bt.jsonl"
    strays.write_text('{"id": "a", "text": "x"}\n{"id": "zz", "text": "y"}\n')
    base = ("rephrasings", "statistics", "--chains", chains, "--json", "--variants")
    done = emotui(*base, f"BT-1={strays}")
    assert (done.status, done.err) == (2, f"{strays}:2: no original has the id 'zz' in {chains}\n")
    assert emotui(*base, f"R1={strays}").err.startswith("R1 is a column already")
    assert emotui(*base, "BT-1").err.startswith("BT-1: write a name and a file")
    assert emotui(*base, f"x={strays}", "--variants", f"x={strays}").err.startswith("variants: the name 'x' is given")


def test_variants_are_kept_in_the_workspace_as_columns_of_its_statistics(emotui: Emotui, tmp_path: Path) -> None:
    db, file = tmp_path / "x.duckdb", CHECKOUT / "sample_data" / "rephrasings_variants.jsonl"
    emotui("rephrasings", "import", SAMPLE, "--name", "mine", "--db", db)
    base = ("rephrasings", "variants", "--dataset", "mine", "--db", db, "--json")
    assert emotui(*base).document == {"dataset": "mine", "variants": {}}
    assert emotui(*base, f"rule={file}").document["variants"] == {"rule": 71}
    store = Workspace.open(db).store
    columns = Rephrased(store).statistics("mine")["columns"]
    assert (list(columns)[2], columns["rule"]["n"]) == ("rule", 71)
    assert "no column 'BT-1'; it has: rule" in emotui(*base, "--remove", "BT-1").err
    assert emotui(*base, "--remove", "rule").document["variants"] == {}
    strays = tmp_path / "s.jsonl"
    strays.write_text('{"id": "zz", "text": "y"}\n')
    assert emotui(*base, f"BT-1={strays}").err == f"{strays}:1: no original has the id 'zz' in mine\n"
    assert emotui(*base, f"R2={file}").err.startswith("R2 is a column already")


def test_a_split_is_what_training_takes(emotui: Emotui, tmp_path: Path) -> None:
    got = emotui("rephrasings", "split", "--chains", SAMPLE, "--to", tmp_path / "parts", "--json").document
    assert sum(part["originals"] for part in got["parts"].values()) == 84
    ids: set[str] = set()
    for part, said in got["parts"].items():
        originals = {one.id: one for one in read(said["files"][0], ClassGold).records}
        chains = read(said["files"][1], Chain).records
        assert all((one.text, one.label) == (originals[one.id].text, originals[one.id].label) for one in chains), part
        assert not ids & set(originals)
        ids |= set(originals)
    assert len(ids) == 84
    again = emotui("rephrasings", "split", "--chains", SAMPLE, "--to", tmp_path / "again", "--json").document
    for part, said in again["parts"].items():
        for first, second in zip(said["files"], got["parts"][part]["files"], strict=True):
            assert Path(first).read_bytes() == Path(second).read_bytes()


def test_too_few_chains_for_a_split_are_told(emotui: Emotui, tmp_path: Path) -> None:
    chains = put(tmp_path, row("a", "fear"))
    done = emotui("rephrasings", "split", "--chains", chains, "--to", tmp_path / "parts")
    assert (done.status, done.err) == (2, f"{chains}: 1 chains are too few: nothing is left for dev, test\n")
    nothing = emotui("rephrasings", "split", "--chains", chains, "--to", tmp_path, "--dev", "0.5", "--test", "0.5")
    assert nothing.status == 2
    assert "leave nothing for training" in nothing.err


def test_chains_go_into_the_store_and_come_out_of_it(emotui: Emotui, tmp_path: Path) -> None:
    db, back = tmp_path / "x.duckdb", tmp_path / "back.jsonl"
    said = emotui("rephrasings", "import", SAMPLE, "--name", "mine", "--db", db, "--json").document
    assert said == {"dataset": "mine", "n": 84, "chains": 71, "attempts": 171}
    again = emotui("rephrasings", "import", SAMPLE, "--name", "mine", "--db", db, "--json").document
    assert (again["chains"], again["attempts"]) == (0, 0)
    done = emotui("rephrasings", "export", "--dataset", "mine", "--to", back, "--db", db, "--json").document
    assert (done["chains"], done["attempts"], done["annotators"], done["round"]) == (71, 171, ["sample"], None)
    first, second = (emotui("rephrasings", "sets", "--chains", file, "--json").document for file in (SAMPLE, back))
    assert first == second
    confirmed = emotui(
        "rephrasings", "export", "--dataset", "mine", "--confirmed-only", "--to", back, "--force", "--db", db, "--json"
    ).document
    assert confirmed["attempts"] == 0
    report = emotui("rephrasings", "agreement", "--dataset", "mine", "--db", db, "--json").document
    assert (report["rephrasings"], report["reviews"], report["meaning_alpha"]) == (171, 0, None)


def test_what_there_is_not_is_told(emotui: Emotui, tmp_path: Path) -> None:
    db = tmp_path / "x.duckdb"
    Workspace.open(db)
    done = emotui("rephrasings", "export", "--dataset", "none", "--to", tmp_path / "y.jsonl", "--db", db)
    assert (done.status, done.err) == (2, "none: there is no dataset; texts to rephrase are in: none yet\n")
    emotui("rephrasings", "import", SAMPLE, "--name", "mine", "--db", db)
    base = ("rephrasings", "export", "--dataset", "mine", "--to", tmp_path / "y.jsonl", "--db", db)
    assert "who has: sample" in emotui(*base, "--annotator", "zoe").err
    assert "there is no round 3" in emotui(*base, "--round", "3").err


def test_figures_are_printed_for_people(emotui: Emotui, tmp_path: Path) -> None:
    chains = tmp_path / "c.csv"
    attempts = (Attempt(text="so it goes", predicted="anger"),)
    write(chains, [Chain(id="a", text="happy", label="joy", attempts=attempts, predicted="joy")])
    for command in ("sets", "statistics"):
        done = emotui("rephrasings", command, "--chains", chains)
        assert done.status == 0
        assert "original" in done.out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("import", "CHAINS", "--annotator", " "), "--annotator: the name is blank"),
        (("suggest", "--model", "embedded", "--text", " ", "--label", "joy"), "--text is empty: give the text"),
    ],
)
def test_a_blank_name_or_text_is_refused(
    emotui: Emotui, tmp_path: Path, arguments: tuple[str, ...], problem: str
) -> None:
    chains = put(tmp_path, row("a", "fear"))
    done = emotui("rephrasings", *(chains if each == "CHAINS" else each for each in arguments))
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(problem)
    assert len(done.err.splitlines()) == 1
