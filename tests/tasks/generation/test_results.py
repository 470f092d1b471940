"""Results of generation: models by metrics, raters, which metric to trust, and ERS by emotion, with what they are."""

import json
from pathlib import Path

import numpy as np
import pytest

from emotui.metrics.beside import drawn
from emotui.metrics.ers import weighted_f1
from emotui.metrics.human_labels import majority_label
from emotui.metrics.resampling import BESIDE, draws, interval_of
from emotui.store.store import Store
from emotui.tasks.generation.document import ScoredText, _resampled
from emotui.tasks.generation.tables import run_tables
from emotui.tasks.parts import ScoredRun
from tests.conftest import Emotui

SAMPLES = "sample_data/generation.jsonl"


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fourteen texts of each of the three writers of the sample data."""
    from tests.paths import CHECKOUT

    rows = [json.loads(line) for line in (CHECKOUT / SAMPLES).read_text().splitlines()]
    path = tmp_path_factory.mktemp("few") / "few.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows if int(row["id"][2:]) <= 14))
    return path


@pytest.mark.slow
def test_results_have_the_figures_of_score_and_say_that_they_are_illustration(
    emotui: Emotui, few: Path, tmp_path: Path
) -> None:
    assert emotui("import", few, "--name", "few", "--db", "w.duckdb").status == 0
    tables = emotui("results", "--dataset", "few", "--db", "w.duckdb", "--json").document["tables"]
    found = {table["key"]: table for table in tables}
    scored = emotui("score", "generation", "--records", few, "--json").document
    (model, figures), *_ = scored["models"].items()
    rows = {row["label"]: row["cells"] for row in found["generation"]["rows"]}
    assert set(rows) == set(scored["models"])
    for name in ("human_f1", "agreement", "eps_emotional", "ers", "r1_m", "r3_c", "n"):
        assert rows[model][name]["value"] == pytest.approx(figures[name], abs=1e-6), name
    for name in ("human_f1", "agreement", "ers", "r3_c"):
        assert rows[model][name]["ci95"] == pytest.approx(figures["ci95"][name], abs=1e-6), name
    assert rows[model]["eas"]["value"] is None
    trust = {row["label"]: row["cells"] for row in found["trust"]["rows"]}
    assert trust["R3L1"]["pearson"]["value"] == pytest.approx(scored["correlations"]["r3_m"]["pearson"], abs=1e-4)
    each = {row["label"]: row["cells"] for row in found["texts"]["rows"]}
    assert each["ERS"]["low"]["value"] == pytest.approx(scored["texts"]["ers"]["ci"][0], abs=1e-4)
    assert any(note.startswith("People's spread: none here") for note in found["raters"]["notes"])
    # Tables 8 and 10: emotions by models, with the total under them.
    by_emotion = {row["label"]: row["cells"] for row in found["raters-by-emotion"]["rows"]}
    assert by_emotion["joy"][f"{model}/agreement"]["value"] == figures["human"]["by_emotion"]["joy"]["agreement"]
    assert by_emotion["total (weighted F1)"][f"{model}/f1"]["value"] == figures["human_f1"]
    # Tables 13 and 14.
    by_class = {row["label"]: row["cells"] for row in found[f"recognition-{model}-embedded"]["rows"]}
    known = figures["recognition"]["embedded"]
    assert by_class["joy"]["recall"]["value"] == known["by_emotion"]["joy"]["recall"]
    assert by_class["accuracy"]["recall"]["value"] == known["accuracy"] == figures["ers"]
    assert all(any("ILLUSTRATION" in note for note in table["notes"]) for table in tables)
    store = Store.open(tmp_path / "w.duckdb")
    run = next(one for one in store.runs.all() if one.model == model)
    said = [(one.sample, one.detail) for one in store.results.outcomes(run.run) if one.detail is not None]
    later = {said[0][0]: (("disgust",) * 9, ("neutral",))}
    (raters,) = (table for table in run_tables([ScoredRun(run, "few", said, rated=later)]) if table.key == "raters")
    assert raters.rows[0].cells[0].value == pytest.approx(_with_first_seen_as_disgust(few, model))
    printed = emotui("score", "generation", "--records", few)
    assert "ILLUSTRATION" in printed.out


def _with_first_seen_as_disgust(path: Path, model: str) -> float | None:
    own = [row for row in map(json.loads, path.read_text().splitlines()) if row["model"] == model]
    seen = [majority_label(row["human"], row["target"]) for row in own]
    return weighted_f1([row["target"] for row in own], ["disgust", *seen[1:]])


def test_human_f1_has_the_interval_of_its_values_over_resamples() -> None:
    draw = np.random.default_rng(3)
    names = ("joy", "fear", "anger")
    texts = [
        ScoredText(str(at), "m", names[at % 3], human=tuple(draw.choice(names, 3, p=[0.5, 0.3, 0.2])) if at % 5 else ())
        for at in range(20)
    ]
    shown = _resampled(texts, drawn([None] * 20), "first")["human_f1"]
    by_hand = []
    for rows in np.concatenate(list(draws(20, BESIDE, 0)))[:300]:
        some = [texts[at] for at in rows if texts[at].human]
        seen = [min(one.human, key=lambda label, own=one.human: (-own.count(label), label)) for one in some]
        by_hand.append(weighted_f1([one.target for one in some], seen))
    assert shown.resampled[:300].tolist() == pytest.approx(by_hand)
    assert interval_of(shown).ends is not None
