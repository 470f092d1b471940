"""textual-serve's server behind a secret address, for this machine's own browser and no page of anybody else.

Whoever reaches the workbench may do what its user may: read files, write them, and send texts with the user's key. So
three things are checked, each of which stops another way in: the secret in the address (other programs and users of
this machine), `Host` (a name of somebody's that was made to mean 127.0.0.1), and `Origin` (a page of another site).
"""

import asyncio
import contextlib
import logging
import os
import secrets
from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp_jinja2 import setup
from jinja2 import FileSystemLoader
from textual_serve.app_service import AppService
from textual_serve.server import Server, to_int

from emotui.commands.output import SERVED_BY, say
from emotui.errors import EmotuiError

HOST = "127.0.0.1"
"""The only address that is listened on."""

SECRET_BYTES = 32
"""Of the secret: more than anybody can try."""

HEADERS = {
    # Nothing but this server's own is fetched or asked, and no other page may frame it.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
        " font-src 'self' data:; connect-src 'self' ws://{host}; frame-ancestors 'none'; base-uri 'none';"
        " form-action 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}

MOST_BYTES = 2**20
"""Of a message from the page: a long paste."""

MOST_CELLS = 1000
"""Columns, and rows, that a page may ask for."""

GRACE = 3.0
"""Seconds that a workbench has to leave by itself once its page is closed; it keeps what is typed as it is typed."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Page(AppService):
    """The workbench of one page, which ends with it, in the middle of its start too."""

    async def set_terminal_size(self, width: object, height: object) -> None:
        """Tell the workbench how large its terminal is, within bounds."""
        await super().set_terminal_size(_cells(width), _cells(height))

    async def stop(self) -> None:
        """Ask it to leave, and end it where it does not."""
        task, self._task = self._task, None
        process = self._process
        if task is None or process is None:
            return
        try:
            await self._download_manager.cancel_app_downloads(app_service_id=self.app_service_id)
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self.send_meta({"type": "quit"}), GRACE)
            await asyncio.wait([task], timeout=GRACE)
            # One that has closed its end is about to go: a blow at that moment would take its status from the loop.
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(process.wait(), GRACE if task.done() else 0)
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            task.cancel()


def _cells(value: object) -> int:
    return max(1, min(MOST_CELLS, value)) if isinstance(value, int) else 80


class OwnServer(Server):
    """Shows what a command draws to whoever knows `address`.

    Args:
        command: a shell command that starts the workbench.
        port: on 127.0.0.1.
    """

    def __init__(self, command: str, port: int) -> None:
        super().__init__(command, host=HOST, port=port, title="emotui")
        self._secret = secrets.token_urlsafe(SECRET_BYTES)
        self._host = self.public_url.removeprefix("http://")

    @property
    def address(self) -> str:
        """What the browser is given."""
        return f"{self.public_url}/{self._secret}/"

    def initialize_logging(self) -> None:
        """Log what fails and no request: its address holds the secret."""
        logging.basicConfig(level=logging.WARNING, format="%(message)s")
        logging.getLogger("aiohttp.access").disabled = True

    def _say_where(self, *_lines: str) -> None:
        say(f"The workbench is at {self.address}")
        say("Whoever has this address may do in it what you may. Ctrl-C ends it.")

    async def _make_app(self) -> web.Application:
        app = web.Application(middlewares=[self._checked])
        setup(app, loader=FileSystemLoader(self.templates_path))
        app.add_routes(
            [
                web.get(f"/{self._secret}/", self.handle_index, name="index"),
                web.get(f"/{self._secret}/ws", self.handle_websocket, name="websocket"),
                web.get("/download/{key}", self.handle_download, name="download"),
                web.static("/static", self.statics_path, name="static"),
            ]
        )
        return app

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Show a workbench of its own to a page, for as long as the page is there."""
        socket = web.WebSocketResponse(heartbeat=15, max_msg_size=MOST_BYTES)
        await socket.prepare(request)

        async def close() -> None:
            await socket.close()

        page = Page(
            self.command,
            write_bytes=socket.send_bytes,
            write_str=socket.send_str,
            close=close,
            download_manager=self.download_manager,
        )
        width, height = (to_int(request.query.get(name, ""), usual) for name, usual in (("width", 80), ("height", 24)))
        try:
            await page.start(_cells(width), _cells(height))
            await self._process_messages(socket, page)
        except (AssertionError, AttributeError, LookupError, TypeError, ValueError):
            await socket.close(message=b"no message of this page's")
        finally:
            await page.stop()
        return socket

    @web.middleware
    async def _checked(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer a request that this server's own page, or its address in the browser's bar, makes; no other."""
        origin = request.headers.get("Origin")
        if request.headers.get("Host") != self._host:
            raise web.HTTPForbidden(text="This is not the name of this server.")
        if origin is not None and origin != self.public_url:
            raise web.HTTPForbidden(text="Another site's page may not ask this server.")
        if origin is None and request.headers.get("Upgrade"):
            raise web.HTTPForbidden(text="A browser says which page opens a connection.")
        if request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise web.HTTPForbidden(text="Another site's page may not ask this server.")
        answer = await handler(request)
        if not answer.prepared:
            answer.headers.update({name: value.format(host=self._host) for name, value in HEADERS.items()})
        return answer

    def serve(self, debug: bool = False) -> None:
        """Serve until Ctrl-C, and say where as soon as the port is listened on, not before.

        Raises:
            EmotuiError: the port is taken, or may not be used.
        """
        self.debug = debug
        self.initialize_logging()
        os.environ[SERVED_BY] = str(os.getpid())
        try:
            web.run_app(self._make_app(), host=self.host, port=self.port, print=self._say_where, shutdown_timeout=1)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise EmotuiError(f"port {self.port} cannot be used ({why}): name another by --port") from None
