"""The layer in front of the app: headers, Host, Origin, and what `annotate` refuses to do."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from annotate.server import Guard, free_port, is_loopback, launch
from calibration.cli import main
from calibration.errors import InputError
from calibration.store import Store


def ask(kind: str = "http", **headers: str) -> list[dict[str, Any]]:
    """What the guard sends for one request; the app behind it answers 200 or accepts."""
    sent: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start" if kind == "http" else "websocket.accept", "status": 200})

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> dict[str, Any]:
        return {}

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "headers": raw, "extensions": {"websocket.http.response": {}}}
    asyncio.run(Guard(app)(scope, receive, send))
    return sent


@pytest.mark.parametrize("host", ["127.0.0.1:8501", "localhost:8501", "[::1]:8501"])
def test_a_local_host_is_served_with_the_headers(host: str) -> None:
    (start,) = ask(host=host)
    headers = dict(start["headers"])
    assert start["status"] == 200
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert headers[b"referrer-policy"] == b"no-referrer"
    assert f"connect-src 'self' ws://{host} ".encode() in headers[b"content-security-policy"]
    assert b"frame-ancestors 'none'" in headers[b"content-security-policy"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8501", "a@127.0.0.1", "", "127.0.0.1; x"])
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_a_foreign_host_is_refused(host: str, kind: str) -> None:
    assert ask(kind, host=host)[0]["status"] == 400


def test_a_websocket_from_another_site_is_refused() -> None:
    host = "127.0.0.1:8501"
    assert ask("websocket", host=host, origin=f"http://{host}")[0]["type"] == "websocket.accept"
    assert ask("websocket", host=host, origin="http://evil.example")[0]["status"] == 403
    assert ask("websocket", host=host, origin="http://127.0.0.1:9999")[0]["status"] == 403


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
def test_a_wider_address_is_refused_with_the_way_out(
    host: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not is_loopback(host)
    with pytest.raises(InputError, match=r"no sign-in yet.*--host 127\.0\.0\.1"):
        launch(tmp_path / "project.db", host=host)
    Store(tmp_path / "project.db")
    with pytest.raises(SystemExit) as stop:
        main(["annotate", "--db", str(tmp_path / "project.db"), "--host", host, "--no-browser"])
    assert stop.value.code == 2
    assert "--host 127.0.0.1" in capsys.readouterr().err


def test_a_port_that_is_taken_is_refused_and_another_one_is_found() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} is taken"):
            free_port("127.0.0.1", port)
        assert free_port("127.0.0.1", None) != port


def test_annotate_without_a_database_says_how_to_get_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["annotate", "--db", str(tmp_path / "none.db"), "--no-browser"])
    assert stop.value.code == 5
    assert "import FILE" in capsys.readouterr().err


def test_a_project_that_cannot_be_made_ends_the_server_with_its_reason(tmp_path: Path) -> None:
    code = (
        "from annotate.server import launch\nfrom calibration.errors import StoreError\n"
        "def fail():\n    raise StoreError('the disk is full')\n"
        f"launch({str(tmp_path / 'a.db')!r}, open_browser=False, prepare=fail)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert found.returncode != 0
    assert "StoreError: the disk is full" in found.stderr
