"""A real Chromium without a screen, Qt's: `python browser.py ADDRESS PICTURE`.

It opens the workbench, clicks, types, leaves, and is then a page of another site. The Python that runs it has PySide6
with QtWebEngine; one JSON object is printed of what was seen.
"""

import json
import os
import sys
from collections.abc import Callable
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QTWEBENGINE_CHROMIUM_FLAGS", "--no-sandbox --disable-gpu --disable-dev-shm-usage")

from PySide6.QtCore import QEventLoop, QPoint, Qt, QTimer, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWebEngineCore import qWebEngineChromiumVersion
from PySide6.QtWebEngineWidgets import QWebEngineView
from PySide6.QtWidgets import QApplication

PATIENCE = 40_000
"""Milliseconds for anything to happen."""

FOREIGN = """<body><script>
const seen = {};
const tell = () => { if (seen.socket && seen.fetched && seen.read) document.title = JSON.stringify(seen); };
const socket = new WebSocket("SOCKET");
socket.onopen = () => { seen.socket = "open"; tell(); };
socket.onerror = () => { seen.socket ??= "refused"; tell(); };
fetch("ADDRESS", {mode: "no-cors"}).then(() => { seen.fetched = "opaque"; tell(); },
                                        () => { seen.fetched = "refused"; tell(); });
fetch("ADDRESS").then(() => { seen.read = "read"; tell(); }, () => { seen.read = "refused"; tell(); });
</script></body>"""
"""A page of another site that knows the address."""


class Browser:
    """One window."""

    def __init__(self) -> None:
        self.view = QWebEngineView()
        self.view.resize(1200, 800)
        self.view.show()

    def asked(self, script: str) -> Any:
        """What a line of JavaScript has as its value."""
        loop, found = QEventLoop(), []
        self.view.page().runJavaScript(script, 0, lambda value: (found.append(value), loop.quit()))
        QTimer.singleShot(PATIENCE, loop.quit)
        loop.exec()
        return found[0] if found else None

    def wait(self, until: Callable[[], bool]) -> bool:
        """Let the browser work until this holds, or for long enough."""
        for _ in range(PATIENCE // 100):
            if until():
                return True
            self.pause(100)
        return False

    def pause(self, milliseconds: int) -> None:
        """Let the browser work."""
        loop = QEventLoop()
        QTimer.singleShot(milliseconds, loop.quit)
        loop.exec()

    def picture(self) -> bytes:
        """What is drawn, as it lies in memory."""
        return bytes(self.view.grab().toImage().bits())

    def settled(self, seconds: int = 1) -> bytes:
        """What is drawn once it stays so for so many seconds."""
        before, stays = b"", 0
        for _ in range(PATIENCE // 1000):
            now = self.picture()
            stays = stays + 1 if now == before else 0
            if stays == seconds:
                return now
            before = now
            self.pause(1000)
        return before


def main(address: str, picture: str) -> None:
    """See the workbench drawn, drive it by key and mouse, leave it, and come back as a page of another site."""
    app = QApplication(sys.argv[:1])
    browser = Browser()
    browser.view.load(QUrl(address))
    seen: dict[str, Any] = {"chromium": qWebEngineChromiumVersion()}
    seen["drawn"] = browser.wait(lambda: "-first-byte" in (browser.asked("document.body.className") or ""))
    # A workspace that is being opened stands still too, for a while.
    first = browser.settled(5)
    target = browser.view.focusProxy()
    QTest.mouseClick(target, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(100, 130))
    seen["a click changes it"] = browser.wait(lambda: browser.picture() != first)
    second = browser.settled()
    QTest.keyClicks(target, "j")
    seen["a key changes it"] = browser.wait(lambda: browser.picture() != second)
    browser.view.grab().save(picture)
    QTest.keyClicks(target, "q")
    QTest.keyClick(target, Qt.Key.Key_Return)
    seen["left"] = browser.wait(lambda: "-closed" in (browser.asked("document.body.className") or ""))
    socket = address.replace("http", "ws", 1) + "ws?width=80&height=24"
    for origin in ("http://evil.example/", "http://localhost:1/", "http://127.0.0.1:1/"):
        browser.view.setHtml(FOREIGN.replace("ADDRESS", address).replace("SOCKET", socket), QUrl(origin))
        browser.wait(lambda: browser.view.title().startswith("{"))
        seen[origin] = json.loads(browser.view.title() or "null")
        browser.view.setHtml("<title>none</title>", QUrl(origin))
        browser.wait(lambda: browser.view.title() == "none")
    print(json.dumps(seen))
    app.quit()


main(*sys.argv[1:])
