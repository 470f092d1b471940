"""Whatever stands in data: the lines that the workbench draws hold nothing that a terminal acts on."""

from pathlib import Path

from emotui.controls import CONTROLS
from emotui.screens.app import EmotuiApp
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui
from tests.hostile import LONG, H, write_files
from tests.screens.driving import press, screen_text, settle

KEYS = ("1", "v", "2", "3", "4", "v", "5", "6", "7", "8", "9", "1", *"QfrdLRem", "ctrl+p")
"""Every place, and the sheets that hold data; each is left by Esc."""


async def test_no_place_and_no_sheet_hands_a_control_of_data_to_the_terminal(emotui: Emotui, tmp_path: Path) -> None:
    write_files(tmp_path)
    store = ("--db", "w.duckdb")
    for kind in ("spans", "labels", "scenes", "values", "masked"):
        assert emotui("import", f"{kind}.jsonl", "--as", kind, "--name", f"{kind} {H}", *store).status == 0
    assert emotui("rephrasings", "import", "chains.jsonl", "--name", f"chains {H}", *store).status == 0
    said = ("import", "predictions", "pspans.jsonl", "--dataset", f"spans {H}", "--source", f"file {H}", "--no-sim")
    assert emotui(*said, *store).status == 0
    source = Workspace.open(str(tmp_path / "w.duckdb"))
    source.set_setting("live model", f"openai:{H}@http://127.0.0.1:9/v1")
    app = EmotuiApp(lambda: source, poll=None, annotator=H)
    async with app.run_test(size=(160, 45), notifications=True) as pilot:
        await settle(pilot)
        for key in KEYS:
            await press(pilot, key)
            assert CONTROLS.findall(screen_text(pilot).replace("\n", "")) == [], key
            if len(pilot.app.screen_stack) > 1:
                await press(pilot, "escape")
        pilot.app.notify(LONG, title=H)
        await settle(pilot)
        assert "ZXZpbA" in screen_text(pilot)
        assert CONTROLS.findall(screen_text(pilot).replace("\n", "")) == []
    source.close()
