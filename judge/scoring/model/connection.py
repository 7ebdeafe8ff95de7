"""The client for a judge's requests: the caller's, or one of its own."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from importlib import import_module
from typing import TYPE_CHECKING

from judge.errors import SetupError
from judge.scoring.model.client import make_client

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class Connection:
    """Returns the client for requests: the caller's, or one of its own, made by `make` at the first call."""

    def __init__(self, client: "AsyncOpenAI | None", make: "Callable[[], AsyncOpenAI] | None" = None) -> None:
        if client is not None:
            import openai

            given: object = client
            if isinstance(given, openai.OpenAI):
                raise SetupError("The client is an OpenAI; pass an AsyncOpenAI.")
        env = os.environ.get
        self._client = client
        self._make = make or (lambda: make_client(env("OPENAI_API_KEY"), env("OPENAI_BASE_URL")))
        self._own_client: AsyncGenerator[AsyncOpenAI, None] | None = None

    async def __call__(self) -> "AsyncOpenAI":
        if self._client is None:
            await asyncio.to_thread(import_module, "openai")  # takes a second, in which other tasks go on
        if self._client is None or (self._own_client is not None and self._client.is_closed()):
            self._own_client = _open(self._make)
            self._client = await anext(self._own_client)
        return self._client

    async def aclose(self) -> None:
        if self._own_client is not None:
            await self._own_client.aclose()


async def _open(make: "Callable[[], AsyncOpenAI]") -> "AsyncGenerator[AsyncOpenAI, None]":
    """Yields a client, and closes it at the latest with the event loop, which ends all generators.

    So a judge that is not closed does no harm, and one that is used in two `asyncio.run` calls connects again.
    """
    async with make() as client:
        yield client
