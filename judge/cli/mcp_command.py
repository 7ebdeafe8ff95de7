"""`judge mcp`: the judge as tools for assistants."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli import options

if TYPE_CHECKING:
    from judge.scoring.judging import Judge


@options.makes_judge
def mcp(
    http: Annotated[
        str | None,
        typer.Option(
            metavar="[HOST:]PORT",
            help="Serve streamable HTTP at /mcp instead; by default on 127.0.0.1, for this machine only. There is no "
            "login: on another HOST, everybody who reaches it can have texts scored at your cost.",
        ),
    ] = None,
    *,
    make: "partial[Judge]",
    concurrency: Annotated[int, typer.Option(envvar="JUDGE_CONCURRENCY", min=1, help="Judged at the same time.")] = 8,
) -> None:
    """Give an assistant the judge as tools.

    They are score, rubrics and estimate, over the Model Context Protocol. The assistant starts this command and talks
    to it over standard input and output.
    """
    with options.needs_extra("mcp", "mcp"):
        from judge.integrations.mcp import Tools, serve_http
    server = Tools(lambda rubric: make(rubric=rubric), make.keywords["rubric"], concurrency).server()
    asyncio.run(server.run_stdio_async() if http is None else serve_http(server, http))
