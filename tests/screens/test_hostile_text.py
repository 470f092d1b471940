"""Whatever stands in data: the lines that the workbench draws hold nothing that a terminal acts on."""

from pathlib import Path

from emotui.controls import CONTROLS
from emotui.screens.app import EmotuiApp
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui
from tests.hostile import LONG, PLACES, H, bring_in, write_files
from tests.screens.driving import press, screen_text, settle


async def test_no_place_and_no_sheet_hands_a_control_of_data_to_the_terminal(emotui: Emotui, tmp_path: Path) -> None:
    write_files(tmp_path)
    bring_in(emotui, "w.duckdb")
    source = Workspace.open(str(tmp_path / "w.duckdb"))
    source.set_setting("live model", f"openai:{H}@http://127.0.0.1:9/v1")
    app = EmotuiApp(lambda: source, poll=None, annotator=H)
    async with app.run_test(size=(160, 45), notifications=True) as pilot:
        await settle(pilot)
        for key in PLACES:
            await press(pilot, key)
            assert CONTROLS.findall(screen_text(pilot).replace("\n", "")) == [], key
            if len(pilot.app.screen_stack) > 1:
                await press(pilot, "escape")
        pilot.app.notify(LONG, title=H)
        await settle(pilot)
        assert "ZXZpbA" in screen_text(pilot)
        assert CONTROLS.findall(screen_text(pilot).replace("\n", "")) == []
    source.close()
