"""Make the README's picture: the real workbench on the sample data, with real predictions, as SVG.

Usage: python docs/picture.py OUT.svg [--size 140x36] [--keys s,down,enter] [--theme NAME]
"""

import argparse
import asyncio
import tempfile
from pathlib import Path

from emotui.screens.app import EmotuiApp
from emotui.workbench.workspace import Workspace


async def draw(target: Path, columns: int, lines: int, keys: list[str], theme: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.open(Path(folder) / "workspace.duckdb")
        workspace.first_start()
        app = EmotuiApp(lambda: workspace)
        async with app.run_test(size=(columns, lines)) as pilot:
            if theme is not None:
                app.theme = theme
            await app.workers.wait_for_complete()
            for key in keys:
                await pilot.press(key)
                await app.workers.wait_for_complete()
            await pilot.pause()
            target.write_text(app.export_screenshot(title="emotui"), encoding="utf-8")
        workspace.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=Path)
    parser.add_argument("--size", default="140x36")
    parser.add_argument("--keys", default="")
    parser.add_argument("--theme")
    chosen = parser.parse_args()
    columns, lines = (int(part) for part in chosen.size.split("x"))
    asyncio.run(draw(chosen.target, columns, lines, [key for key in chosen.keys.split(",") if key], chosen.theme))


if __name__ == "__main__":
    main()
