"""`judge-bot mcp`: a channel's figures, with the digest's rules and without texts, for the assistant
of a person who may read the store.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from bot.commands import opened
from bot.commands.channels import find_noted
from bot.commands.view import find_team
from bot.domain.clock import utc_now
from bot.domain.week import Schedule
from bot.errors import BotError
from bot.figures.quality import Agreement
from bot.figures.week import FEWEST, Figures, read_figures
from bot.settings import ReaderSettings, load
from bot.store.audit import Action
from bot.store.channels import Channels
from bot.store.database import Database
from bot.store.export import Exports
from bot.store.figures import Place
from bot.store.names import Names
from bot.store.tallies import Tallies
from judge.evaluation.stats import MIN_LABELS, SURE, good_from, low_to

Channel = Annotated[str, Field(description="The channel's id, such as C0123ABCD, or its name.")]


async def serve() -> None:
    """Answers on standard input and output until the input is closed."""
    settings = load(ReaderSettings)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # asyncio would wait for the thread that reads
    async with opened.opened_database() as database:
        schedule = Schedule.parse(settings.digest_day, settings.digest_time, settings.digest_tz)
        tools = Tools(database, schedule)
        server = MCPServer[None]("slack-judge", version=version("slack-judge"), log_level="WARNING")
        for tool in (tools.channels, tools.stats, tools.lowest):
            server.add_tool(tool, annotations=ToolAnnotations(read_only_hint=True))
        await server.run_stdio_async()


@contextmanager
def _explained() -> Iterator[None]:
    """Turns our errors into the tool's, whose sentence the client gets; it has no options."""
    try:
        with opened.reading(""):
            yield
    except BotError as exc:
        raise ToolError(str(exc).replace("--channel", "channel")) from exc


@dataclass(frozen=True)
class Tools:
    """The tools; `schedule` is that of channels that have chosen none."""

    database: Database
    schedule: Schedule

    async def channels(self) -> list[dict[str, Any]]:
        """List the channels with replies that people chose to score."""
        with _explained():
            names = {id_: name for (_, id_), name in (await Names(self.database).all()).items()}
            channel_ids = await Exports(self.database).channels()
        return [{"channel": id_, "name": names.get(id_)} for id_ in channel_ids]

    async def lowest(self, channel: Channel) -> list[dict[str, Any]]:
        """List up to three replies of a channel's week so far with low scores, the lowest first."""
        place, figures = await self._figures(channel)
        act = Action.EXPORTED_CHANNEL
        with _explained():
            await opened.note(self.database, act, [place.team_id], channel_id=place.channel_id)
            names = await Names(self.database).all()
        shown = ("score", "highest", "judged_at", "message_ts", "thread_ts")
        return [
            {"case": reply.id, "assistant": names.get((place.team_id, reply.author_id or ""))}
            | {name: getattr(reply, name) for name in shown}
            for reply in figures.lowest
        ]

    async def stats(self, channel: Channel) -> dict[str, Any]:
        """Give the figures of the replies in a channel's week so far that people chose to score.

        Null means unknown, or fewer than 5 scores. A list of three is a value with the ends of its
        95% interval. A week is named by its first day. `change` is the change of the mean since the
        week before. `corrected_mean` estimates the mean that people would give for the last four
        weeks; it needs 20 blind labels. `scored_otherwise` counts replies scored by another judge
        or on another scale, which are in no other figure.

        `agreement` says how often the judge and people agree, over all `n` labelled replies, from
        20 on: `blind` if people had not seen the score, `seen` if they had. `is_unlike`: the week's
        scores differ from those of the labelled replies, so label new ones.
        """
        _, figures = await self._figures(channel)
        return _to_stats(figures)

    async def _figures(self, channel: str) -> tuple[Place, Figures]:
        now = utc_now()
        with _explained():
            channel_id = await find_noted(channel, Names(self.database))
            team_id = await find_team(Exports(self.database), channel, channel_id)
            chosen = await Channels(self.database).of(team_id, channel_id)
            times = (chosen.digest_day, chosen.digest_time, chosen.digest_tz)
            week = self.schedule.changed(*times).current(now)
            place = Place(team_id, channel_id)
            return place, await read_figures(Tallies(self.database), place, week, now)


def _to_stats(figures: Figures) -> dict[str, Any]:
    scores = figures.this
    low = low_to(figures.scale)
    good = good_from(figures.scale)
    below_good = scores.share_up_to(good - 1)
    mean = figures.quality.mean if figures.quality else None
    usage = figures.usage
    labels = {"blind": _to_agreement(figures.blind), "seen": _to_agreement(figures.seen)}
    has_agreement = any("exact" in agreement for agreement in labels.values())
    return {
        "week": f"{figures.week.first_day}",
        "judge_version": figures.kind.version,
        "scale": figures.scale,
        "scored": scores.n,
        "mean": scores.mean,
        "replies_by_score": dict(sorted(scores.counts.items())) if scores.n >= FEWEST else None,
        f"share_up_to_{low}": scores.share_up_to(low),
        f"share_from_{good}": None if below_good is None else 1 - below_good,
        "change": figures.change,
        "trend": [
            {"week": f"{week.week.first_day}", "mean": week.mean, "judge_version": week.version}
            for week in figures.trend
        ],
        "corrected_mean": mean.corrected if mean and not mean.missing else None,
        "agreement": {**labels, "is_unlike": has_agreement and figures.unlike < SURE},
        "unscored": figures.unscored,
        "scored_otherwise": figures.off_scale + figures.off_version,
        "cost_usd": usage.cost_usd if usage.with_cost == usage.cases else None,
    }


def _to_agreement(agreement: Agreement | None) -> dict[str, Any]:
    n = agreement.n if agreement else 0
    return asdict(agreement) if agreement and n >= MIN_LABELS else {"n": n}
