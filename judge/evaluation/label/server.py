"""Serves the page for labels on this machine alone, under an address that nobody can guess."""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from secrets import token_urlsafe
from string import Template
from threading import Lock
from typing import Any

from judge.errors import SetupError
from judge.evaluation.label import Labelling
from judge.evaluation.view import hashes_of
from judge.rows.files import encode, os_reason

_HOST = "127.0.0.1"
_LONGEST_REQUEST = 100_000


def serve(labelling: Labelling, port: int, tell: Callable[[str], None]) -> None:
    """Serves until it is interrupted; `tell` gets the address."""
    try:
        server = _Server(labelling, port)
    except OSError as exc:
        raise SetupError(f"--port {port}: cannot be used ({os_reason(exc)}).") from exc
    with server:
        tell(f"http://{_HOST}:{server.server_port}{server.path}")
        server.serve_forever()


class _Server(ThreadingHTTPServer):
    def __init__(self, labelling: Labelling, port: int) -> None:
        super().__init__((_HOST, port), _Handler)
        # Other pages in the browser and other people of this machine do not know it.
        self.path = f"/{token_urlsafe(16)}/"
        self.page = _page()
        self._labelling = labelling
        self._lock = Lock()

    def answer(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Takes a label if there is one, and gives the person's next reply."""
        person = str(asked["person"])
        wrong = ""
        with self._lock:
            if "key" in asked:
                score = asked["score"]
                if type(score) is not int and score is not None:
                    raise ValueError("not a score")
                key = str(asked["key"])
                try:
                    wrong = self._labelling.give(person, key, score, str(asked["reason"]))
                except SetupError as exc:  # the disk is full, say
                    wrong = str(exc)
            return {"wrong": wrong} if wrong else self._labelling.next(person)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        if self.path == self.server.path:
            self._send(HTTPStatus.OK, self.server.page, "text/html")
        else:
            self._send(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length") or ""
        is_read = length.isdecimal() and int(length) <= _LONGEST_REQUEST
        if self.path != f"{self.server.path}label" or not is_read:
            self._send(HTTPStatus.NOT_FOUND)
            return
        try:
            answer = self.server.answer(json.loads(self.rfile.read(int(length))))
        except (ValueError, KeyError, TypeError):
            self._send(HTTPStatus.BAD_REQUEST)
            return
        self._send(HTTPStatus.OK, encode(answer).encode(), "application/json")

    def _send(self, status: HTTPStatus, body: bytes = b"", kind: str = "text/plain") -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: the terminal says what people need to know."""


def _page() -> bytes:
    """The page, with the style and the parts of the page of `judge view`."""
    here = Path(__file__).parent
    view = here.parent / "view"
    style = "".join(_text(each) for each in (view / "page.css", here / "label.css"))
    script = "".join(_text(each) for each in (view / "parts.js", here / "label.js"))
    page = Template(_text(here / "label.html"))
    fixed = {"style": style, "script": script, **hashes_of(style, script)}
    return page.substitute(fixed).encode()


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
