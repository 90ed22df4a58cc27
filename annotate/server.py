"""The one entry point of `demo` and `annotate`: the app behind a layer that sets headers and checks Host."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from calibration.errors import CalibrationError, InputError
from calibration.person import login_name

DATABASE = "JUDGE_CALIBRATION_DB"
ANNOTATOR = "JUDGE_CALIBRATION_ANNOTATOR"
ROLE = "JUDGE_CALIBRATION_ROLE"
LOOPBACK_NAMES = frozenset({"localhost"})
FIRST_PORT = 8501
PORTS_TRIED = 20
# Read by the first page, so that the browser finds them loaded: Streamlit imports them on first use.
WARM = (
    "annotate.views.label",
    "annotate.views.board",
    "streamlit.elements.html",
    "streamlit.material_icon_names",
    "streamlit.dataframe_util",
    "pyarrow.pandas_compat",
)
POLICY = (
    "default-src 'self'; script-src 'self' blob:; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self' ws://{host} wss://{host}; object-src 'none'; base-uri 'self'; "
    "frame-ancestors 'none'"
)

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """ASGI layer: a foreign Host is refused with 400, a foreign Origin of a websocket with 403; headers are set."""

    def __init__(
        self, app: Callable[[Scope, Receive, Send], Awaitable[None]], prepared: Future[None] | None = None
    ) -> None:
        """`prepared`: pages are drawn once it is done; their files are served before."""
        self.app = app
        self.prepared = prepared

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request or websocket."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        if not is_loopback(_hostname(host)):
            await _refuse(scope, send, 400, b"unknown host\n")
            return
        origin = headers.get(b"origin")
        if scope["type"] == "websocket" and origin is not None and urlsplit(origin).netloc != host:
            await _refuse(scope, send, 403, b"foreign origin\n")
            return
        if scope["type"] == "websocket" and self.prepared is not None:
            await asyncio.wrap_future(self.prepared)
        await self.app(scope, receive, _with_headers(send, host))


def _with_headers(send: Send, host: str) -> Send:
    added = [
        (b"content-security-policy", POLICY.format(host=host).encode("latin-1")),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
    ]
    names = {name for name, _ in added}

    async def wrapped(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            kept = [(name, value) for name, value in message.get("headers", []) if name.lower() not in names]
            message["headers"] = [*kept, *added]
        await send(message)

    return wrapped


async def _refuse(scope: Scope, send: Send, status: int, text: bytes) -> None:
    kind = "http.response" if scope["type"] == "http" else "websocket.http.response"
    if scope["type"] == "websocket" and kind not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008})
        return
    await send({"type": f"{kind}.start", "status": status, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": f"{kind}.body", "body": text})


def _hostname(host: str) -> str:
    """The name in a Host header, empty when it is no plain `name` or `name:port`."""
    if any(letter in host for letter in "@/?#\\ "):
        return ""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def is_loopback(name: str) -> bool:
    """Whether a host name or address is this machine alone."""
    try:
        return name in LOOPBACK_NAMES or ip_address(name).is_loopback
    except ValueError:
        return False


def launch(
    db: str | Path,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    annotator: str | None = None,
    role: str = "annotator",
    open_browser: bool = True,
    page: str = "",
    prepare: Callable[[], None] | None = None,
) -> None:
    """Serve the app for one project until it is stopped, and print the address when it can be opened.

    `port` None takes a free one; `page` is what the browser opens, such as `label`. `prepare` makes the project: it
    runs while the browser loads the app, pages wait for it, and what it raises ends the server. Raises InputError for
    a host that is not this machine and for a port that is taken.
    """
    if not is_loopback(host):
        raise InputError(
            f"{host}: the app has no sign-in yet and would be open to the whole network; use --host 127.0.0.1, "
            f"and from another machine a tunnel: ssh -L {port or FIRST_PORT}:127.0.0.1:{port or FIRST_PORT} USER@SERVER"
        )
    if annotator is not None and not 0 < len(annotator.strip()) <= 200:
        raise InputError("an annotator's name has 1 to 200 characters")
    chosen = free_port(host, port)
    _tell_pages(db, annotator, role)
    address = f"http://{f'[{host}]' if ':' in host else host}:{chosen}"
    _serve(host, chosen, address, f"{address}/{page}" if open_browser else None, prepare)


def free_port(host: str, port: int | None) -> int:
    """The port asked for, else the first free one from 8501 on."""
    if port is not None and not 1 <= port <= 65535:
        raise InputError(f"{port} is no port; use 1 to 65535")
    for candidate in [port] if port is not None else [*range(FIRST_PORT, FIRST_PORT + PORTS_TRIED), 0]:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            if os.name != "nt":
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, candidate))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise InputError(f"port {port} is taken or may not be used; choose another with --port, or leave it out")


def _tell_pages(db: str | Path, annotator: str | None, role: str) -> None:
    """What the pages work on stands in the environment of the server: nothing of it comes from the browser."""
    os.environ[DATABASE] = str(Path(db).resolve())
    os.environ[ROLE] = role
    os.environ[ANNOTATOR] = (annotator or os.environ.get(ANNOTATOR) or login_name()).strip()


def _serve(host: str, port: int, address: str, opened: str | None, prepare: Callable[[], None] | None) -> None:
    from starlette.middleware import Middleware
    from streamlit.starlette import App

    prepared: Future[None] = Future()

    @asynccontextmanager
    async def ready(_app: App) -> AsyncIterator[None]:
        # The socket listens already: a browser that comes now waits until the first page is served.
        print(f"judge-calibration: {address}  (Ctrl+C stops it)", flush=True)
        threading.Thread(target=_prepare, args=(prepare, prepared), daemon=True).start()
        threading.Thread(target=_warm, args=(opened,), daemon=True).start()
        yield

    script = Path(__file__).with_name("app.py")
    # Streamlit reads .streamlit/config.toml beside the program in argv, here beside the app.
    before, sys.argv = sys.argv, [str(script)]
    try:
        app = App(script, middleware=[Middleware(Guard, prepared=prepared)], lifespan=ready)
        with suppress(KeyboardInterrupt):
            app.run(config={"server.address": host, "server.port": port})
    finally:
        sys.argv = before
    if prepared.done():
        prepared.result()


def _prepare(prepare: Callable[[], None] | None, prepared: Future[None]) -> None:
    """Make the project; what goes wrong ends the server and is raised by `launch`."""
    try:
        if prepare is not None:
            prepare()
        prepared.set_result(None)
    except CalibrationError as error:
        prepared.set_exception(error)
        os.kill(os.getpid(), signal.SIGINT)


def _warm(opened: str | None) -> None:
    if opened is not None:
        import webbrowser

        webbrowser.open(opened)
    for name in WARM:
        import_module(name)
