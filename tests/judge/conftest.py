"""The client that tests use to ask the model server."""

from collections.abc import AsyncIterator

import pytest
from openai import AsyncOpenAI

from tests.judge_client import Ask, http_client
from tests.model_server import ModelServer
from tests.server_profiles import KEY


@pytest.fixture
async def client(model_server: ModelServer) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(
        api_key=KEY, base_url=model_server.base_url, http_client=http_client()
    ) as client:
        yield client


@pytest.fixture
def ask(model_server: ModelServer, client: AsyncOpenAI) -> Ask:
    return Ask(model_server, client)
