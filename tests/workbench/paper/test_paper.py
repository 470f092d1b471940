"""The folder of a paper: what is in it, what its metadata holds to, and that it is the same when it is made again."""

import getpass
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from emotui.backends.host import Cancelled
from emotui.errors import BadInput
from emotui.store.query import Run
from emotui.tasks.registry import tasks
from emotui.workbench.paper.again import _config
from emotui.workbench.paper.folder import write_paper
from emotui.workbench.paper.metadata import evaluation, metric_of
from emotui.workbench.paper.methods import run_name
from emotui.workbench.paper.recipe import Naming, RecipeRun, read_recipe
from emotui.workbench.results.service import Results
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui
from tests.workbench.paper import every_eval_ever
from tests.workbench.reports.latex import compiles

STATED = ("--creator", "Ann and Bob", "--license", "https://example.org/l", "--url", "https://example.org/d")
NAME = "mine & <b>50%</b> $x_1$ #é"
TEXTS = {
    "1": ("I am so happy for you, thank you!", ["joy", "gratitude"]),
    "2": ("What a terrible, sad day.", ["sadness"]),
    "3": ("The bus leaves at nine.", ["neutral"]),
    "4": ("I am furious about this.", ["anger"]),
}


@pytest.fixture
def made(emotui: Emotui, tmp_path: Path) -> tuple[str, str]:
    """A run of the embedded model and what a file says, over four texts under a hostile name."""
    people = {"annotators": {"ann": ["joy"], "bob": []}}
    lines = [{"id": key, "text": text, "labels": labels} | people for key, (text, labels) in TEXTS.items()]
    said = [{"id": key, "labels": ["neutral"]} for key in TEXTS]
    for file, records in (("g.jsonl", lines), ("p.jsonl", said)):
        (tmp_path / file).write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    assert emotui("import", "labels", "g.jsonl", "--name", NAME, "--db", "w.duckdb").status == 0
    done = emotui("run", "labels", "--dataset", NAME, "--db", "w.duckdb", "--json")
    source = ("--dataset", NAME, "--source", f"file {NAME}", "--db", "w.duckdb")
    assert emotui("import", "predictions", "p.jsonl", *source).status == 0
    return str(done.document["run"]), f"file {NAME}"


def files(folder: Path) -> dict[str, bytes]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.mark.slow
def test_a_folder_made_again_in_a_fresh_store_has_the_same_tables_byte_for_byte(
    emotui: Emotui, tmp_path: Path, made: tuple[str, str]
) -> None:
    done = emotui("paper", *made, "--to", "p1", "--db", "w.duckdb", "--no-sim", "--json", *STATED)
    assert (done.status, done.document["runs"]) == (0, list(made))
    again = emotui("paper", "--again", "p1", "--to", "p2", "--json")
    assert (again.status, again.document["other"]) == (0, [])
    assert [(one["same"], one["same_settings"]) for one in again.document["runs"]] == [(4, True)]
    one, two = files(tmp_path / "p1"), files(tmp_path / "p2")
    assert one.keys() == two.keys()
    for name in one:
        if name.startswith(("tables/", "figures/", "data/")):
            assert one[name] == two[name], name
    assert {Path(name).parts[0] for name in one} == {
        *("README.md", "again.sh", "checklist.md", "data", "every_eval_ever", "figures", "methods.md", "paper.json"),
        *("runs", "tables"),
    }
    for private in (str(tmp_path), f"/{getpass.getuser()}/", "w.duckdb", "g.jsonl"):
        assert [name for name, content in one.items() if private.encode() in content] == []
    assert re.search(r"hardware|processor|cores", one["methods.md"].decode().lower())
    kept = emotui("paper", "--again", "p1", "--to", "p3", "--kept")
    n = sum(name.startswith(("tables/", "figures/")) for name in one)
    assert kept.out == f"p3: all {n} files of tables and figures are the same, byte for byte\n"
    assert [b"Ann and Bob" in one[name] for name in one if name.endswith(".croissant.json")] == [True]
    (metadata,) = [content for name, content in one.items() if name.endswith(".croissant.json")]
    croissant(json.loads(metadata), one)
    for name in one:
        if name.startswith("every_eval_ever/"):
            every_eval_ever.read(one[name])
    changed = (tmp_path / "p1" / "tables" / "tables.csv").read_bytes() + b"x"
    recipe = json.loads(one["paper.json"])
    recipe["tables"]["tables/tables.csv"] = "0" * 64
    recipe["drawn_by"] = "0.1"
    (tmp_path / "p1" / "tables" / "tables.csv").write_bytes(changed)
    (tmp_path / "p1" / "paper.json").write_text(json.dumps(recipe))
    other = emotui("paper", "--again", "p1", "--to", "p4", "--kept")
    assert (other.status, "1 not: tables/tables.csv" in other.out) == (1, True)
    assert "figures are not compared: matplotlib 0.1 drew them" in other.out


def croissant(document: dict[str, Any], there: dict[str, bytes]) -> None:
    """What the Croissant specification 1.0 requires of a dataset, its files, record sets and fields; RAI 1.0."""
    required = {"@context", "@type", "conformsTo", "description", "license", "name", "url", "creator", "datePublished"}
    assert required <= document.keys()
    assert document["@type"] == "sc:Dataset"
    assert document["conformsTo"] == ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"]
    assert document["@context"]["cr"] == "http://mlcommons.org/croissant/"
    assert document["@context"]["rai"] == "http://mlcommons.org/croissant/RAI/"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", document["datePublished"])
    (file,) = document["distribution"]
    assert {"@type", "@id", "name", "contentUrl", "encodingFormat", "sha256"} <= file.keys()
    assert f"data/{file['contentUrl']}" in there
    (records,) = document["recordSet"]
    keys = {"@type", "@id", "name", "field"}
    assert keys <= records.keys()
    for field in records["field"]:
        assert {"@type", "@id", "name", "dataType", "source"} <= field.keys()
        assert field["source"]["fileObject"] == {"@id": file["@id"]}
        key, _, inner = field["name"].partition("/")
        assert field["source"]["extract"] == {"column": key}
        assert field["source"].get("transform") == ({"jsonPath": f"$['{inner}']"} if inner else None)
    assert records["key"]["@id"] in {field["@id"] for field in records["field"]}
    known = {key for key in document if key.startswith("rai:")}
    assert {"rai:dataCollection", "rai:dataAnnotationProtocol", "rai:annotationsPerItem", "rai:dataBiases"} <= known
    assert document["rai:annotationsPerItem"] == "2 to 2, 2.00 on average"


def test_results_of_every_task_keep_to_the_schema_of_every_eval_ever(
    tmp_path: Path, emotui: Emotui, made: tuple[str, str]
) -> None:
    store = Workspace.open(tmp_path / "w.duckdb").store
    for name in made:
        run = store.runs.get(name) if name == made[0] else next(one for one in store.runs.all() if one.model == name)
        dataset = store.datasets.get(run.dataset)
        assert dataset is not None
        document = every_eval_ever.read(json.dumps(evaluation(store, run, dataset, run.run)).encode())
        assert document.evaluation_id == f"{dataset.name}/{document.model_info.id}/{document.retrieved_timestamp}"
        assert {one.score_details.uncertainty is not None for one in document.evaluation_results} == {True}
    for task in tasks().values():
        for metric in task.metrics:
            found = metric_of(metric, task.name)
            config = msgspec.convert(found, every_eval_ever.MetricConfig)
            assert (config.score_type is msgspec.UNSET) == (None in metric.range)


def test_every_table_of_a_folder_compiles(emotui: Emotui, tmp_path: Path, made: tuple[str, str]) -> None:
    emotui("paper", *made, "--to", "p1", "--db", "w.duckdb", "--no-sim")
    tables = sorted((tmp_path / "p1" / "tables").glob("*.tex"))
    inputs = "\n".join(f"\\input{{tables/{path.stem}}}\\clearpage" for path in tables)
    text = f"\\documentclass{{article}}\n\\usepackage{{graphicx}}\n\\begin{{document}}\n{inputs}\n\\end{{document}}\n"
    (tmp_path / "p1" / "d.tex").write_text(text)
    compiles(tmp_path / "p1" / "d.tex")


def test_without_texts_no_text_is_in_the_folder_and_a_store_with_them_makes_it_again(
    emotui: Emotui, tmp_path: Path, made: tuple[str, str]
) -> None:
    emotui("paper", made[1], "--to", "p1", "--db", "w.duckdb", "--no-sim", "--without-texts")
    for name, content in files(tmp_path / "p1").items():
        assert not any(text.encode() in content for text, _ in TEXTS.values()), name
    bare = emotui("paper", "--again", "p1", "--to", "p2")
    assert "are not in it, and not in this store" in bare.err
    assert bare.status == 2
    assert not (tmp_path / "p2").exists()
    assert emotui("paper", "--again", "p1", "--to", "p3", "--db", "w.duckdb").status == 0


def test_a_folder_that_holds_something_is_left_as_it_is(emotui: Emotui, tmp_path: Path, made: tuple[str, str]) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "x").write_text("mine")
    done = emotui("paper", made[1], "--to", "old", "--db", "w.duckdb")
    assert (done.status, done.err) == (2, "old: holds something; name a new folder\n")
    assert files(tmp_path / "old") == {"x": b"mine"}
    assert (
        emotui("paper", "--to", "new", "--db", "w.duckdb").err == "a paper needs a run: emotui paper RUN... --to DIR\n"
    )


def test_what_is_stopped_on_the_way_leaves_nothing(tmp_path: Path, emotui: Emotui, made: tuple[str, str]) -> None:
    workspace = Workspace.open(tmp_path / "w.duckdb")
    results, before = Results(workspace.store, workspace.model), set(tmp_path.iterdir())
    with pytest.raises(Cancelled):
        write_paper(workspace.store, results, [made[1]], str(tmp_path / "new"), sim=False, cancelled=lambda: True)
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", ["../x", "data/../x", "/etc/x", "data/.x", "other/x", "data/a b", "data/a/b"])
def test_a_recipe_that_names_files_elsewhere_is_refused(name: str) -> None:
    recipe: dict[str, Any] = {"emotui": "0", "sim": True, "published": False, "texts": True, "datasets": [], "runs": []}
    with pytest.raises(BadInput, match="is no file of such a folder"):
        read_recipe(json.dumps(recipe | {"tables": {name: "0"}}).encode(), "paper.json")


def test_runs_are_called_by_their_old_ids_and_models_without_folders() -> None:
    run = Run("abcd-2", "labels", "hf:/home/me/m", 1, "i", {}, "done", "", None, 1, 1, 0, None)
    naming = Naming([run], {"abcd-2": "abcd-1"})
    assert naming.text("confusion-abcd-2: hf:/home/me/m (abcd-2), abcd-23, xabcd-2") == (
        "confusion-abcd-1: hf:m (abcd-1), abcd-23, xabcd-2"
    )


def test_files_of_two_runs_have_two_names() -> None:
    names = ["abcd-1", "said by \u0416", "said by \u042f", "a/b", "a-b", "../x", "x", ""]
    files = [run_name(name) for name in names]
    assert len({*files}) == len(names)
    assert files[0] == "abcd-1"
    assert all(set(file) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for file in files)


@pytest.mark.parametrize("config", [{"repeats": "x"}, {"repeats": 0}, {"repeats": 10**9}, {"seed": []}])
def test_a_recipe_with_settings_that_no_run_can_have_is_refused(config: dict[str, Any]) -> None:
    run = RecipeRun(run="r\nx", dataset="d", model="m", by_model=True, identity="i", file="runs/r", config=config)
    with pytest.raises(BadInput, match=r"p/paper\.json:1: run r\\nx: "):
        _config("p", run)
