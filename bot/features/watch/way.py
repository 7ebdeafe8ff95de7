"""How a watch asks the judge for its scores, and what a score costs."""

import asyncio
from functools import partial
from typing import NamedTuple

from bot.domain.watch import Watch
from bot.services import Services
from bot.settings import OFFLINE
from judge import Judge, JudgeError, Verdict
from judge.scoring.model.addresses import OPENAI_URL
from judge.scoring.model.completion import cost_of, has_price_list
from judge.scoring.ways import DECISION, DISTRIBUTION, TEXT

_TOKENS = {DECISION: (700, 0), DISTRIBUTION: (468, 4), TEXT: (468, 260)}
"""What a usual reply's score takes, read and written, without thinking: docs/security.md, Cost."""
_TOKENS_BESIDE = (900, 120)
"""What a request takes that sorts fifteen usual questions by topic."""
PATIENCE_S = 5.0
"""How long a person waits at most until the model was tried; later, a watch asks as settings say."""


class Way(NamedTuple):
    """How a watch asks: the model, and `ask` as in `Watch`; and what a usual score costs, with its
    part of the requests beside scores.

    `usd` is None if that is not known. `is_guess`: no score tells it yet, so it leaves out thinking.
    """

    model: str
    ask: str | None = None
    usd: float | None = None
    is_guess: bool = False


async def find_way(
    services: Services,
    team_id: str,
    channel_id: str,
    watch: Watch | None = None,
    patience_s: float = 1.0,
) -> Way:
    """The way of a watch, which it keeps; or of a new one: for the score alone, if the model gives
    its probabilities.

    Whether it does is tried once in a while; this waits for it no longer than `patience_s`.
    """
    way = await _find_way(services, team_id, channel_id, watch, patience_s)
    beside = services.requests_a_score
    if not way.usd or not beside:
        return way
    of_request = await _price(services, way.model, *_TOKENS_BESIDE)
    return way._replace(usd=way.usd + beside * (of_request or 0))


async def _find_way(
    services: Services, team_id: str, channel_id: str, watch: Watch | None, patience_s: float
) -> Way:
    """The same, with the price of a score alone."""
    settings = services.settings
    chosen = await services.rubrics.log.chosen(team_id, channel_id)
    model = chosen.model or settings.judge_model
    if model == OFFLINE or services.judges is None:
        return Way(model, usd=0 if model == OFFLINE else None)
    judge_of = partial(services.judges.of_channel, team_id, channel_id)
    ask = watch.ask if watch else None
    tried: Verdict | None = None
    if watch is None and settings.judge_ask == TEXT:
        tried = await _try_out(services, await judge_of(DISTRIBUTION), patience_s)
    if tried and tried.probabilities:
        ask = DISTRIBUTION
    way = Way(model, ask)
    judge = await judge_of(ask)
    if judge is None or not has_price_list(settings.openai_base_url or OPENAI_URL):
        return way
    usd = await services.store.spending.mean_cost(team_id, judge.version)
    if usd is not None:
        return way._replace(usd=usd)
    return await _priced(services, way, tried or await _try_out(services, judge, patience_s))


async def _priced(services: Services, way: Way, tried: Verdict | None) -> Way:
    """The way with the price of a usual reply, by the tokens of a try if there is one."""
    read, written = _TOKENS[way.ask or services.settings.judge_ask]
    if tried and tried.input_tokens is not None:
        read = tried.input_tokens
        written = tried.output_tokens or 0
    usd = await _price(services, way.model, read, written)
    return way._replace(usd=usd, is_guess=tried is None)


async def _try_out(services: Services, judge: Judge | None, patience_s: float) -> Verdict | None:
    """The judge's verdict on a usual reply; None if it does not come in time. A later call has it."""
    try:
        async with asyncio.timeout(patience_s):
            judges = services.judges
            return await judges.tried.get(judge) if judges and judge else None
    except (JudgeError, TimeoutError):
        return None


async def _price(services: Services, model: str, read: int, written: int) -> float | None:
    """What a score costs in US dollars at the tier of watches."""
    settings = services.settings
    usage = {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "input_tokens": read,
        "output_tokens": written,
    }
    tier = settings.watch_tier or settings.judge_tier
    answer = {"model": model, "usage": usage, "service_tier": tier}
    url = settings.openai_base_url or OPENAI_URL
    is_decision = settings.judge_ask == DECISION
    return await asyncio.to_thread(cost_of, url, answer, is_decision=is_decision)
