"""The judges of the app: one for each rubric to choose from."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from bot.domain.limits import Limits
from bot.settings import OFFLINE, Settings
from judge import Judge, Rubric, list_rubrics, load_rubric
from judge.model import make_client


def rubric_of(settings: Settings) -> Rubric:
    """The rubric that JUDGE_RUBRIC names, by name or by path."""
    return load_rubric(settings.judge_rubric)


def rubrics_of(settings: Settings) -> Mapping[str, Rubric]:
    """The rubrics to choose from by their names, JUDGE_RUBRIC first."""
    default = rubric_of(settings)
    return {default.name: default} | {name: load_rubric(name) for name in list_rubrics() if name != default.name}


def limits_of(settings: Settings) -> Limits:
    """What may be asked of them."""
    judge = Judge(settings.judge_model, samples=settings.judge_samples, escalate_to=settings.judge_escalate_to)
    return Limits(
        cases_per_user_per_hour=settings.max_cases_per_user_per_hour,
        cases_per_day=settings.max_cases_per_day,
        tokens_per_day=settings.max_tokens_per_day,
        ratings=judge.most_ratings,
    )


@asynccontextmanager
async def open_judges(settings: Settings) -> AsyncIterator[Mapping[str, Judge]]:
    """One judge for each rubric to choose from; they share one connection to the model."""
    async with AsyncExitStack() as stack:
        client = None
        if settings.judge_model != OFFLINE:
            key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
            client = await stack.enter_async_context(make_client(key, settings.openai_base_url))
        yield {
            name: Judge(
                model=settings.judge_model,
                rubric=rubric,
                samples=settings.judge_samples,
                client=client,
                timeout_s=settings.judge_timeout_s,
                escalate_to=settings.judge_escalate_to,
            )
            for name, rubric in rubrics_of(settings).items()
        }
