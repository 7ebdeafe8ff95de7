"""Fixtures that several packages' tests share."""

from collections.abc import AsyncIterator

import pytest

from tests.model_server import ModelServer


@pytest.fixture
async def model_server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server
