"""The judge as tools for assistants, over the Model Context Protocol; docs/integrations.md has the
set-up.

A client names rubrics and sends texts and rows. None of these is used as a path: the client may be
on another machine.
"""

import asyncio
import json
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, cast

import anyio.to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError, ToolAnnotations
from pydantic import Field
from pydantic_core import from_json

from judge.errors import JudgeError, RubricError, SetupError
from judge.evaluation.estimate import Fields, estimate_file
from judge.rows import files
from judge.rows.messages import read_turns
from judge.rows.row_file import to_added
from judge.scoring.conversation import bounded
from judge.scoring.judging import Judge
from judge.scoring.ratings import UnscoredReason
from judge.scoring.rubric import list_rubrics, purpose_of

READS = ToolAnnotations(read_only_hint=True)
_TOO_LONG = (
    f"The message is longer than {files.MOST_OF_A_LINE / 1e6:g} MB: shorten the texts, or send "
    "fewer rows."
)
# The SDK for Python writes a message's id first, the one for TypeScript last; an id in between may
# belong to a row.
_ID = re.compile(
    r'\A\{(?:"(?:jsonrpc|method)": ?"[^"]*", ?)*"id": ?(\d+|"[^"\\]*")|"id": '
    r'?(\d+|"[^"\\]*")\}\s*\Z'
)
_NEAR_AN_END = 300
_OPTION = re.compile(
    r"(?<!\S)--(?=[a-z])"
)  # of a command's option; a tool has an argument of the same name
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_ROWS = (
    "Each has a `score`, and a few have `human`, a person's label. Where rows have them, "
    "`probability` (of being drawn for a label), `blind`, `thread`, `stratum`, `case`, `model` "
    "and `rubric` count, too."
)

Turns = Annotated[
    Sequence[Mapping[str, Any]],
    Field(description="What was said before the question, oldest first: role and content."),
]
Reference = Annotated[
    str, Field(description="What the response must agree with; some rubrics need it.")
]
RubricName = Annotated[
    str | None, Field(description="A name that `rubrics` lists; without it, the default one.")
]


@contextmanager
def plain_errors(kind: type[Exception]) -> Iterator[None]:
    """Turns errors of this kind into tool errors, whose sentence the client gets; it learns nothing
    about others.
    """
    try:
        yield
    except kind as exc:
        raise ToolError(_OPTION.sub("", str(exc))) from exc


class Server(MCPServer[None]):
    """A server that Ctrl-C ends while it waits for a line, and whose memory no line can fill."""

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, version=version("slack-judge"), log_level="WARNING", **options)

    async def run_stdio_async(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # asyncio would wait for the thread that reads

        async def lines() -> AsyncIterator[str]:
            while raw := await anyio.to_thread.run_sync(files.read_line, sys.stdin.buffer):
                line, why = (
                    raw.decode(errors="replace"),
                    _TOO_LONG if len(raw) > files.MOST_OF_A_LINE else None,
                )
                try:
                    from_json(line)
                except ValueError as exc:  # the SDK would not answer, and the client would wait
                    why = why or (
                        f"The message is not JSON of Unicode text ({exc}); is a character "
                        "cut in half?"
                    )
                if why is None:
                    yield line
                elif found := _ID.search(line[:_NEAR_AN_END] + line[-_NEAR_AN_END:]):
                    error = ErrorData(code=INVALID_REQUEST, message=why)
                    answer = JSONRPCError(
                        jsonrpc="2.0", id=json.loads(found[1] or found[2]), error=error
                    )
                    await write.send(SessionMessage(answer))

        async with stdio_server(cast("Any", lines())) as (read, write):
            await self._lowlevel_server.run(
                read, write, self._lowlevel_server.create_initialization_options()
            )


class Tools:
    """The tools of `judge mcp`, with a judge by `make` for each rubric; `concurrency` texts are
    judged at a time.
    """

    def __init__(self, make: Callable[[str], Judge], rubric: str, concurrency: int) -> None:
        self._default = make(rubric).rubric.name
        self._sources = {**{name: name for name in list_rubrics()}, self._default: rubric}
        self._judges = {name: make(source) for name, source in self._sources.items()}
        self._turns = asyncio.Semaphore(concurrency)

    def server(self) -> Server:
        server = Server("slack-judge", lifespan=self._opened)
        for tool in (self.score, self.rubrics, self.estimate):
            server.add_tool(tool, annotations=READS)
        return server

    async def score(
        self,
        question: str,
        response: str,
        rubric: RubricName = None,
        conversation: Turns = (),
        reference: Reference = "",
    ) -> dict[str, Any]:
        """Score a response to a question with a language model as the judge.

        `score` is null if the judge could not score it, and `unscored_detail` says why: that is not
        a low score. `spread` is how far apart the `ratings` are; if it is 2 or more, have a person
        look at it. `cost_usd` is null if the price is not known.
        """
        with plain_errors(ValueError):
            turns = bounded(read_turns(conversation))
        with plain_errors(JudgeError):
            judge = self._judges[self._named(rubric)]
            async with self._turns:
                verdict = await judge.score(
                    question, response, conversation=turns, reference=reference
                )
            if verdict.unscored and verdict.unscored.reason is UnscoredReason.TOO_LONG:
                raise JudgeError(verdict.unscored.detail)
        return to_added(verdict, judge.samples)

    def rubrics(self) -> list[dict[str, Any]]:
        """List the rubrics: what each asks of a response, and its lowest and highest score."""
        return [
            {
                "name": name,
                "purpose": purpose_of(name),
                "scale": each.rubric.scale,
                "is_default": name == self._default,
            }
            for name, each in self._judges.items()
        ]

    async def estimate(
        self,
        rows: Annotated[list[dict[str, Any]], Field(description=_ROWS, min_length=1)],
        rubric: RubricName = None,
    ) -> dict[str, Any]:
        """Correct the mean of many scores with a few labels by people, with a 95% interval.

        The labels must be of rows drawn at random, and given without seeing the score. `low` and
        `high` are the interval, null if it is not known; with fewer than 20 `effective` labels it
        is rough. `judge_mean` is the mean of the scores alone.
        """
        lines = ((number, files.encode(row).encode()) for number, row in enumerate(rows, start=1))
        with plain_errors(JudgeError):
            source = None if rubric is None else self._sources[self._named(rubric)]
            found = await asyncio.to_thread(
                estimate_file, Path("rows"), Fields("human"), source, lines
            )
        return found.to_dict()

    def _named(self, rubric: str | None) -> str:
        if rubric is not None and rubric not in self._judges:
            raise RubricError(
                f"rubric {rubric[:80]!r}: no such rubric; choose one of {', '.join(self._judges)}"
            )
        return rubric or self._default

    @asynccontextmanager
    async def _opened(self, _: object) -> AsyncIterator[None]:
        try:
            yield
        finally:
            for judge in self._judges.values():
                await judge.aclose()


async def serve_http(server: Server, given: str) -> None:
    """Serves at "[HOST:]PORT" until a signal; refuses requests for other hosts.

    Raises SetupError if it cannot.
    """
    import uvicorn

    name, _, port = given.rpartition(":")
    host, shown = name.strip("[]") or _LOOPBACK[0], name or _LOOPBACK[0]
    if not (port.isascii() and port.isdigit() and int(port) <= 65535) or host in ("0.0.0.0", "::"):  # noqa: S104 - refused
        raise SetupError(
            f"--http {given}: give PORT, or HOST:PORT with the one host name or address "
            "that clients use."
        )
    hosts = [shown, f"{shown}:*"]
    foreign = TransportSecuritySettings(
        allowed_hosts=hosts, allowed_origins=[f"http://{each}" for each in hosts]
    )
    app = server.streamable_http_app(
        host=host,
        transport_security=None
        if host in _LOOPBACK
        else foreign,  # the SDK has its own for loopback
        max_request_body_size=2
        * files.MOST_OF_A_LINE,  # up to this size, the judge says which text is too long
    )
    with files.explaining(f"--http {given}: cannot listen there", "; name another"):
        listener = socket.create_server(
            (host, int(port)), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
    print(
        f"Listening at http://{shown}:{listener.getsockname()[1]}/mcp", file=sys.stderr, flush=True
    )
    config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
    with listener:
        await uvicorn.Server(config).serve(sockets=[listener])
