"""textual-serve's server behind a secret address, for this machine's own browser and no page of anybody else.

Whoever reaches the workbench may do what its user may: read files, write them, and send texts with the user's key. So
three things are checked, each of which stops another way in: the secret in the address (other programs and users of
this machine), `Host` (a name of somebody's that was made to mean 127.0.0.1), and `Origin` (a page of another site).
"""

import logging
import secrets
from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp_jinja2 import setup
from jinja2 import FileSystemLoader
from textual_serve.server import Server

from emotui.commands.output import say
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

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


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
        try:
            web.run_app(self._make_app(), host=self.host, port=self.port, print=self._say_where)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise EmotuiError(f"port {self.port} cannot be used ({why}): name another by --port") from None
