"""How a watch asks the judge for its scores, and what a score costs."""

import asyncio
from functools import partial
from typing import NamedTuple

import sqlalchemy as sa

from bot.domain.shared import AnswerCache
from bot.domain.watch import Watch
from bot.services import Services
from bot.settings import OFFLINE, Settings
from bot.store.database import Database
from bot.store.schema import cases
from judge import Judge, JudgeError, Verdict
from judge.scoring.model.addresses import OPENAI_URL
from judge.scoring.model.completion import cost_of, has_price_list
from judge.scoring.ways import DECISION, DISTRIBUTION, TEXT, USUAL

_TOKENS = {DECISION: (700, 0), DISTRIBUTION: (468, 4), TEXT: (468, 260)}
"""What a usual reply's score takes, read and written, without thinking: docs/security.md, Cost."""
_TOKENS_BESIDE = (900, 120)
"""What a request takes that sorts fifteen usual questions by topic."""
PATIENCE_S = 5.0
"""How long a person waits at most until the model was tried; later, a watch asks as settings say."""
_DAY_S = 86_400.0
_LAST = 50


class Way(NamedTuple):
    """How a watch asks: the model, and `ask` as in `Watch`; and what a usual score costs, with its
    part of the requests beside scores.

    `usd` is None if that is not known. `is_guess`: no score tells it yet, so it leaves out thinking.
    """

    model: str
    ask: str | None = None
    usd: float | None = None
    is_guess: bool = False


class Ways:
    """Finds ways; a judge is tried once a day."""

    def __init__(self, services: Services) -> None:
        self._services = services
        # Verdicts on a usual reply, which tell how a judge's model answers.
        self._tried = AnswerCache[Judge, Verdict](
            lambda judge: judge.score(*USUAL), kept_s=_DAY_S, most=100
        )

    async def find(
        self, team_id: str, channel_id: str, watch: Watch | None = None, patience_s: float = 1.0
    ) -> Way:
        """The way of a watch, which it keeps; or of a new one: for the score alone, if the model
        gives its probabilities.

        Whether it does is tried; this waits for it no longer than `patience_s`.
        """
        way = await self._find(team_id, channel_id, watch, patience_s)
        beside = self._services.requests_a_score
        if not way.usd or not beside:
            return way
        of_request = await _price(self._services.settings, way.model, *_TOKENS_BESIDE)
        return way._replace(usd=way.usd + beside * (of_request or 0))

    async def _find(
        self, team_id: str, channel_id: str, watch: Watch | None, patience_s: float
    ) -> Way:
        """The same, with the price of a score alone."""
        services = self._services
        settings = services.settings
        chosen = await services.rubrics.log.chosen(team_id, channel_id)
        model = chosen.model or settings.judge_model
        if model == OFFLINE or services.judges is None:
            return Way(model, usd=0 if model == OFFLINE else None)
        judge_of = partial(services.judges.of_channel, team_id, channel_id)
        ask = watch.ask if watch else None
        tried: Verdict | None = None
        if watch is None and settings.judge_ask == TEXT:
            tried = await self._try_out(await judge_of(DISTRIBUTION), patience_s)
        if tried and tried.probabilities:
            ask = DISTRIBUTION
        way = Way(model, ask)
        judge = await judge_of(ask)
        if judge is None or not has_price_list(settings.openai_base_url or OPENAI_URL):
            return way
        usd = await _mean_cost(services.store.database, team_id, judge.version)
        if usd is not None:
            return way._replace(usd=usd)
        return await _priced(settings, way, tried or await self._try_out(judge, patience_s))

    async def _try_out(self, judge: Judge | None, patience_s: float) -> Verdict | None:
        """The judge's verdict on a usual reply; None if it does not come in time. A later call has
        it.
        """
        try:
            async with asyncio.timeout(patience_s):
                return await self._tried.get(judge) if judge else None
        except (JudgeError, TimeoutError):
            return None


async def _mean_cost(database: Database, team_id: str, version: str) -> float | None:
    """What the last verdicts of a judge version cost on average, in US dollars; None if that is
    not known of them.
    """
    own = sa.select(cases.c.cost_usd).filter_by(team_id=team_id, judge_version=version)
    last = own.order_by(cases.c.judged_at.desc()).limit(_LAST).subquery()
    mean: float | None = await database.value(sa.select(sa.func.avg(last.c.cost_usd)))
    return mean


async def _priced(settings: Settings, way: Way, tried: Verdict | None) -> Way:
    """The way with the price of a usual reply, by the tokens of a try if there is one."""
    read, written = _TOKENS[way.ask or settings.judge_ask]
    if tried and tried.input_tokens is not None:
        read = tried.input_tokens
        written = tried.output_tokens or 0
    usd = await _price(settings, way.model, read, written)
    return way._replace(usd=usd, is_guess=tried is None)


async def _price(settings: Settings, model: str, read: int, written: int) -> float | None:
    """What a score costs in US dollars at the tier of watches."""
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
