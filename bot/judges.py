"""The app's judges, made from its settings."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from functools import partial

from bot.pipeline.judges import MakeJudge
from bot.settings import OFFLINE, Settings
from judge import Judge, Rubric
from judge.scoring.model.client import Connection, check_client, make_client


@asynccontextmanager
async def open_judges(settings: Settings) -> AsyncIterator[MakeJudge]:
    """A function that makes judges; they share one client, which is made for the first request."""
    if settings.judge_model == OFFLINE and not settings.judge_models:
        yield _maker(settings, None)
        return
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    check_client(key, settings.openai_base_url)
    make = partial(make_client, key, settings.openai_base_url)
    async with aclosing(Connection(None, make)) as connection:
        yield _maker(settings, connection)


def _maker(settings: Settings, client: Connection | None) -> MakeJudge:
    def make(
        rubric: Rubric, model: str | None, tier: str | None = None, ask: str | None = None
    ) -> Judge:
        return Judge(
            model=model or settings.judge_model,
            rubric=rubric,
            samples=settings.judge_samples,
            client=client,
            timeout_s=settings.judge_timeout_s,
            ask=ask or settings.judge_ask,
            effort=settings.judge_effort,
            options=settings.judge_options.get_secret_value() if settings.judge_options else None,
            tier=tier or settings.judge_tier,
            answer_tokens=settings.judge_answer_tokens,
        )

    return make
