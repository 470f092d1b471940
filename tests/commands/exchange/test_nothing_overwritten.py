"""No command writes onto its store or onto a file that it reads, whatever the file is called."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from emotui.commands import cli
from emotui.commands.exchange.written import WrittenOption
from emotui.errors import BadInput
from emotui.formats import check_not_over
from emotui.screens.dialogs.file import write_list
from emotui.workbench.files.view import FileView
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui
from tests.templates import copy_of

pytestmark = pytest.mark.faults

GOLD = '{"id": "1", "text": "I was glad.", "spans": [[0, 5, "joy"]]}\n'


@pytest.fixture
def store(tmp_path: Path, emotui: Emotui) -> Path:
    """A store whose name ends as a file of records does."""
    gold = tmp_path / "gold.jsonl"
    gold.write_text(GOLD, encoding="utf-8")
    path = tmp_path / "store.jsonl"

    def make(template: Path) -> None:
        assert emotui("import", "spans", gold, "--db", template).status == 0

    copy_of(path, __name__, make)
    (tmp_path / "link.jsonl").symlink_to(path)
    return path


@pytest.mark.parametrize("name", ["store.jsonl", "link.jsonl", "./store.jsonl"])
@pytest.mark.parametrize(
    "words",
    [
        ("export", "gold"),
        ("export", "gold", "--format", "text"),
        ("sql", "select 1"),
        ("map-labels", "gold", "--set", "glad=joy"),
    ],
    ids=" ".join,
)
def test_the_store_is_not_written_over(
    emotui: Emotui, tmp_path: Path, store: Path, words: tuple[str, ...], name: str
) -> None:
    before = store.read_bytes()
    done = emotui(*words, "--to", tmp_path / name, "--db", store)
    assert (done.status, done.out) == (2, "")
    assert "which would be lost: name another file" in done.err
    assert store.read_bytes() == before


def test_a_mapping_is_written_over_no_file_that_is_imported_and_not_over_the_store(
    emotui: Emotui, tmp_path: Path, store: Path
) -> None:
    gold, before = tmp_path / "gold.jsonl", store.read_bytes()
    for target in (gold, store):
        done = emotui("import", gold, "--name", "other", "--save-map", target, "--db", store)
        assert (done.status, done.out) == (2, "")
        assert "which would be lost" in done.err
    assert gold.read_text(encoding="utf-8") == GOLD
    assert store.read_bytes() == before


CHAINS = "".join(
    f'{{"id": "{number}", "text": "I was glad {number}.", "label": "joy", "attempts": '
    f'[{{"text": "It went well {number}.", "predicted": "fear", "confidence": 0.5}}]}}\n'
    for number in range(12)
)
READ = {
    "predict": ("predict", "class", "--model", "hf:nowhere", "--records", "in.jsonl", "--to", "TARGET"),
    "thresholds": ("thresholds", "--gold", "gold.jsonl", "--pred", "in.jsonl", "--to", "TARGET"),
    "rephrasings sets": ("rephrasings", "sets", "--chains", "1R.jsonl", "--to", "."),
    "rephrasings split": ("rephrasings", "split", "--chains", "train_rephrasings.jsonl", "--to", "."),
    "train classifier": ("train", "classifier", "--base", "hf:folder", "--train", "in.jsonl", "--to", "folder"),
    "export": ("export", "gold", "--to", "TARGET", "--db", "store.jsonl"),
    "report": ("report", "1", "--to", "TARGET", "--db", "store.jsonl"),
    "paper": ("paper", "1", "--to", "TARGET", "--db", "store.jsonl"),
    "runs pack": ("runs", "pack", "1", "--to", "TARGET", "--db", "store.jsonl"),
    "rephrasings contrast": ("rephrasings", "contrast", "--dataset", "gold", "--to", "TARGET", "--db", "store.jsonl"),
    "rephrasings export": ("rephrasings", "export", "--dataset", "gold", "--to", "TARGET", "--db", "store.jsonl"),
    "notes export": ("notes", "export", "gold", "--to", "TARGET", "--db", "store.jsonl"),
    "sql": ("sql", "select 1", "--to", "TARGET", "--db", "store.jsonl"),
    "snapshot": ("snapshot", "--to", "TARGET", "--db", "store.jsonl"),
    "map-labels": ("map-labels", "gold", "--from", "in.jsonl", "--to", "TARGET", "--db", "store.jsonl"),
    "batch write": ("batch", "write", "class", "--model", "M", "--records", "in.jsonl", "--to", "TARGET"),
    "import": ("import", "in.jsonl", "--save-map", "TARGET", "--db", "store.jsonl"),
    "masked build": ("masked", "build", "--posts", "in.jsonl", "--to", "TARGET"),
    "masked lexicon": ("masked", "lexicon", "gold", "--to", "TARGET", "--db", "store.jsonl"),
    "masked questions": ("masked", "questions", "--words", "in.jsonl", "--to", "TARGET"),
    "masked examples": ("masked", "examples", "--records", "in.jsonl", "--to", "TARGET"),
    "masked review write": ("masked", "review", "write", "r", "--to", "TARGET", "--db", "store.jsonl"),
    "masked study sheet": ("masked", "study", "sheet", "s", "--coder", "A", "--to", "TARGET", "--db", "store.jsonl"),
    "masked study codes": ("masked", "study", "codes", "s", "--to", "TARGET", "--db", "store.jsonl"),
    "masked study export": ("masked", "study", "export", "s", "--to", "TARGET", "--db", "store.jsonl"),
    "ratings": ("ratings", "in.csv", "--records", "in.jsonl", "--to", "TARGET"),
    "ratings kept": ("ratings", "kept", "gold", "--to", "TARGET", "--db", "store.jsonl"),
    "ratings subset": ("ratings", "subset", "in.jsonl", "--source", "video", "--to", "TARGET"),
}
"""By the command that writes where an option says: a call over one of its inputs; TARGET is what it reads."""


def _writing(command: click.Command, name: str) -> Iterator[str]:
    """Names of the commands below one that have an option for a place to write."""
    context = click.Context(command)
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            assert found is not None
            yield from _writing(found, f"{name} {child}".strip())
    elif any(isinstance(param, WrittenOption) for param in command.params):
        yield name
    else:
        places = {"--to", "--out", "--save-map", "--save"} & {flag for one in command.params for flag in one.opts}
        assert not places, f"{name} {places} has to be a `written_option`"


def test_every_command_that_writes_where_it_is_told_is_tried_here() -> None:
    assert set(_writing(cli, "")) == set(READ)


@pytest.mark.parametrize("link", ["", "symbolic", "hard"])
@pytest.mark.parametrize("name", list(READ))
def test_what_a_command_reads_is_not_written_over_by_any_name(
    emotui: Emotui, tmp_path: Path, store: Path, name: str, link: str
) -> None:
    for file in ("in.jsonl", "1R.jsonl", "train_rephrasings.jsonl"):
        (tmp_path / file).write_text(CHAINS, encoding="utf-8")
    (tmp_path / "folder").mkdir()
    target = "store.jsonl" if "--db" in READ[name] and "in.jsonl" not in READ[name] else "in.jsonl"
    if link == "symbolic":
        (tmp_path / "other.jsonl").symlink_to(tmp_path / target)
    elif link == "hard":
        (tmp_path / "other.jsonl").hardlink_to(tmp_path / target)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    done = emotui(*((("other.jsonl" if link else target) if word == "TARGET" else word) for word in READ[name]))
    assert (done.status, done.out) == (2, "")
    assert "which would be lost: name another file" in done.err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def test_the_log_of_the_store_is_not_written_over(emotui: Emotui, tmp_path: Path, store: Path) -> None:
    done = emotui("export", "gold", "--format", "jsonl", "--to", f"{store}.wal", "--db", store)
    assert (done.status, "which would be lost" in done.err) == (2, True)


def test_a_command_writes_into_a_terminal_that_it_reads_from(tmp_path: Path) -> None:
    check_not_over("/dev/null", "/dev/null")


def test_a_dataset_may_be_called_as_the_file_that_is_written(emotui: Emotui, tmp_path: Path, store: Path) -> None:
    assert emotui("rename", "gold", "out.jsonl", "--db", store).status == 0
    for force in ((), ("--force",)):
        assert emotui("export", "out.jsonl", "--to", "out.jsonl", *force, "--db", store).status == 0


def test_a_browsed_file_is_not_written_over_by_the_list_that_is_shown(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(GOLD, encoding="utf-8")
    source = FileView(str(gold), warn=pytest.fail)
    with pytest.raises(BadInput, match="which would be lost"):
        write_list(source, 1, [0], (), str(gold), lambda: False, lambda progress: None)
    assert gold.read_text(encoding="utf-8") == GOLD


def test_a_dataset_is_not_written_over_a_file_that_it_came_from(
    emotui: Emotui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db, one, two = tmp_path / "w.duckdb", tmp_path / "one, too.jsonl", tmp_path / "two.jsonl"
    one.write_text(GOLD, encoding="utf-8")
    two.write_text(GOLD.replace('"1"', '"2"'), encoding="utf-8")
    (tmp_path / "link.jsonl").symlink_to(two)
    predicted = tmp_path / "p.jsonl"
    predicted.write_text('{"id": "1", "spans": []}\n{"id": "2", "spans": []}\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert emotui("import", "spans", one, "two.jsonl", "--name", "d", "--db", db).status == 0
    words = "import", "predictions", predicted, "--dataset", "d", "--source", "theirs", "--no-sim"
    assert emotui(*words, "--db", db).status == 0
    for name in ("d", "theirs"):
        for target in ("two.jsonl", "./link.jsonl", tmp_path / "two.jsonl"):
            done = emotui("export", name, "--to", target, "--force", "--db", db)
            assert (done.status, done.out) == (2, "")
            assert "which would be lost: name another file" in done.err
    source = Workspace.open(db)
    with pytest.raises(BadInput, match="would be lost"):
        write_list(source, 1, [1], [], str(two), lambda: False, lambda progress: None)
    assert two.read_text(encoding="utf-8") == GOLD.replace('"1"', '"2"')
    assert emotui("export", "d", "--to", tmp_path / "fresh.jsonl", "--db", db).status == 0


def test_a_dataset_from_a_folder_is_written_over_no_file_in_it(emotui: Emotui, tmp_path: Path) -> None:
    folder, db = tmp_path / "corpus", tmp_path / "w.duckdb"
    folder.mkdir()
    (folder / "a.txt").write_text("I was glad.", encoding="utf-8")
    (folder / "a.ann").write_text("T1\tjoy 0 5\tI was\n", encoding="utf-8")
    assert emotui("import", folder, "--name", "d", "--db", db).status == 0
    done = emotui("export", "d", "--to", folder / "a.txt", "--force", "--db", db)
    assert (done.status, "which would be lost" in done.err) == (2, True)
    assert (folder / "a.txt").read_text(encoding="utf-8") == "I was glad."


def test_answers_are_written_over_no_part_of_the_folder_that_they_are_about(emotui: Emotui, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    (folder / "deep").mkdir(parents=True)
    part = folder / "deep" / "part-0.parquet"
    part.write_bytes(b"PAR1")
    done = emotui("predict", "class", "--records", folder, "--to", part)
    assert (done.status, part.read_bytes()) == (2, b"PAR1")
    assert "which would be lost: name another file" in done.err


@pytest.mark.parametrize("name", [name for name, words in READ.items() if "TARGET" in words and name != "paper"])
def test_a_file_that_is_there_is_refused_before_work_begins_by_every_command_that_writes_one(
    emotui: Emotui, tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.jsonl").write_text(CHAINS, encoding="utf-8")
    mine = tmp_path / "mine.jsonl"
    mine.write_text("mine\n", encoding="utf-8")
    words = [("mine.jsonl" if word == "TARGET" else word) for word in READ[name] if word != "--force"]
    done = emotui(*words)
    option = words[words.index("mine.jsonl") - 1]
    assert (done.status, done.out, mine.read_text(encoding="utf-8")) == (2, "", "mine\n")
    assert done.err == f"{option} mine.jsonl is there already: name another file, or say --force\n"


def test_files_that_are_there_in_a_folder_are_replaced_by_force_alone(emotui: Emotui, tmp_path: Path) -> None:
    chains = tmp_path / "chains.jsonl"
    chains.write_text(CHAINS, encoding="utf-8")
    for words, file in ((("rephrasings", "sets"), "1R.jsonl"), (("rephrasings", "split"), "dev.jsonl")):
        folder = tmp_path / words[1]
        folder.mkdir()
        (folder / "other.jsonl").write_text("mine\n", encoding="utf-8")  # nothing that is written
        call = (*words, "--chains", chains, "--to", folder)
        assert emotui(*call).status == 0
        (folder / file).write_text("mine\n", encoding="utf-8")
        done = emotui(*call)
        assert (done.status, done.out, (folder / file).read_text(encoding="utf-8")) == (2, "", "mine\n")
        assert f"{folder / file} is there already" in done.err
        assert emotui(*call, "--force").status == 0
        assert (folder / file).read_text(encoding="utf-8") != "mine\n"
        assert (folder / "other.jsonl").read_text(encoding="utf-8") == "mine\n"


def test_a_list_of_labels_beside_the_file_is_not_written_over(emotui: Emotui, tmp_path: Path) -> None:
    db, texts, names = tmp_path / "w.duckdb", tmp_path / "t.jsonl", tmp_path / "out" / "emotions.txt"
    texts.write_text('{"id": "1", "text": "I was glad.", "labels": ["glad"]}\n', encoding="utf-8")
    assert emotui("import", texts, "--name", "d", "--db", db).status == 0
    names.parent.mkdir()
    call = ("export", "d", "--format", "goemotions", "--to", names.parent / "d.tsv", "--db", db)
    assert emotui(*call).status == 0
    assert (names.read_text(encoding="utf-8"), emotui(*call, "--force").status) == ("glad\n", 0)
    names.write_text("mine\n", encoding="utf-8")
    (names.parent / "d.tsv").unlink()
    done = emotui(*call)
    assert (done.status, names.read_text(encoding="utf-8"), (names.parent / "d.tsv").exists()) == (2, "mine\n", False)
    assert "emotions.txt is there already beside it: name another folder, or say --force" in done.err
    assert emotui(*call, "--force").status == 0
    assert names.read_text(encoding="utf-8") == "glad\n"


EDITED = {
    "batch write": ("batch", "write", "class", "--model", "M", "--records", "in.jsonl", "--to", "mine.jsonl"),
    "import": ("import", "gold.jsonl", "--dry-run", "--save-map", "mine.jsonl"),
    "map-labels": ("map-labels", "gold", "--set", "glad=joy", "--to", "mine.jsonl", "--db", "store.jsonl"),
    "masked study codes": ("masked", "study", "codes", "--to", "mine.jsonl", "--db", "store.jsonl"),
}
"""By the command that writes what a person goes on with: a call that succeeds where nothing is there yet."""


@pytest.mark.parametrize("name", list(EDITED))
def test_what_a_person_may_have_changed_is_replaced_by_force_alone(
    emotui: Emotui, tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.jsonl").write_text('{"id": "1", "text": "I was glad.", "label": "joy"}\n', encoding="utf-8")
    mine = tmp_path / "mine.jsonl"
    mine.touch()  # as mktemp leaves it: nothing is lost
    assert emotui(*EDITED[name]).status == 0
    mine.write_text("mine\n", encoding="utf-8")
    done = emotui(*EDITED[name])
    assert (done.status, done.out, mine.read_text(encoding="utf-8")) == (2, "", "mine\n")
    assert "mine.jsonl is there already: name another file, or say --force" in done.err
    assert emotui(*EDITED[name], "--force").status == 0
    assert mine.read_text(encoding="utf-8") != "mine\n"
