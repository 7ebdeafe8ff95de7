"""`judge-bot mcp`: a channel's figures as tools, for the assistant of a person who may read the
store.

The same cases count and the same figures are hidden as in the digest. Access to single replies is
recorded in the audit, as by `judge-bot view`. The tools return no texts.
"""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from pydantic import Field

from bot.commands import opened
from bot.commands.channels import find_channel, opened_slack
from bot.commands.view import find_team
from bot.domain.clock import utc_now
from bot.domain.week import Schedule, Week
from bot.errors import BotError
from bot.figures import week as figures_week
from bot.figures.quality import Agreement
from bot.settings import ReaderSettings, load
from bot.slack.client import SLACK_ERRORS, SlackClient
from bot.slack.members import Listed, list_channels
from bot.store.audit import Action
from bot.store.channels import Channels
from bot.store.database import Database
from bot.store.export import Exports
from bot.store.figures import LowCase, Place, Span, TimedScore
from bot.store.tallies import Tallies
from judge.evaluation import stats as evaluation_stats
from judge.integrations import mcp

Channel = Annotated[str, Field(description="The channel's id, such as C0123ABCD, or its name.")]


async def serve() -> None:
    """Answers on standard input and output until the input is closed."""
    settings = load(ReaderSettings)
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(opened.opened_database())
        client = await stack.enter_async_context(
            opened_slack(settings, database, "", is_needed=False)
        )
        schedule = Schedule.parse(settings.digest_day, settings.digest_time, settings.digest_tz)
        log, server = Log(database, schedule, client), mcp.Server("slack-judge-log")
        for tool in (log.channels, log.recent, log.lowest, log.stats, log.agreement):
            server.add_tool(tool, annotations=mcp.READS)
        await server.run_stdio_async()


@dataclass(frozen=True)
class Log:
    """The tools; `schedule` is that of channels that have chosen none.

    Without a client, only ids are known.
    """

    database: Database
    schedule: Schedule
    client: SlackClient | None = None

    async def channels(self) -> list[dict[str, Any]]:
        """List the channels with replies that people chose to score, with their names if Slack
        gives them.
        """
        with mcp.plain_errors(BotError), opened.reading(""):
            known = await Exports(self.database).channels()
        names: Mapping[str, Listed] = {}
        with suppress(*SLACK_ERRORS):
            names = await list_channels(self.client) if self.client else {}
        return [
            {"channel": each, "name": names[each].name if each in names else None} for each in known
        ]

    async def recent(self, channel: Channel) -> list[dict[str, Any]]:
        """List the last scored replies of a channel's week so far that people chose to score,
        newest first.
        """
        with mcp.plain_errors(BotError), opened.reading(""):
            place, found = await self._find(channel)
            scored = await Tallies(self.database).in_order(place, Span(found.start, found.end))
            return await self._shown(place, scored[::-1][:50])

    async def lowest(self, channel: Channel) -> list[dict[str, Any]]:
        """List up to three replies of a channel's week so far with low scores, the lowest first."""
        with mcp.plain_errors(BotError), opened.reading(""):
            place, figures = await self._figures(channel)
            return await self._shown(place, figures.lowest)

    async def stats(self, channel: Channel) -> dict[str, Any]:
        """Give the figures of a channel's week so far. They cover replies that people chose to
        score, no random sample.

        Null means unknown, or too few replies: below 5 scores there are no figures. A list of three
        is a value with the ends of its 95% interval. A week is named by its first day. `change` is
        the change of the mean since the week before. `corrected_mean` estimates the mean that
        people would give for the last four weeks; it needs 20 blind labels. `scored_otherwise`
        counts replies scored by another judge or on another scale, which are in no other figure.
        """
        with mcp.plain_errors(BotError), opened.reading(""):
            _, figures = await self._figures(channel)
        return _to_stats(figures)

    async def agreement(self, channel: Channel) -> dict[str, Any]:
        """Say how often the judge and people agree, over all labelled replies (`n`).

        `blind` is about labels that people gave before they saw the score, `seen` about labels
        given after. A list of three is a value with the ends of its 95% interval; below 20 replies
        there are no figures. `is_unlike`: the week's scores differ from those of the labelled
        replies, so label new ones.
        """
        with mcp.plain_errors(BotError), opened.reading(""):
            _, figures = await self._figures(channel)
        both = {"blind": _to_agreement(figures.blind), "seen": _to_agreement(figures.seen)}
        is_unlike = figures.unlike < evaluation_stats.SURE and any(
            "exact" in each for each in both.values()
        )
        return {"judge_version": figures.kind.version, **both, "is_unlike": is_unlike}

    async def _find(self, channel: str) -> tuple[Place, Week]:
        """The channel and its week so far."""
        channel_id, _ = await find_channel(channel, self.client)
        team_id = await find_team(Exports(self.database), channel, channel_id)
        chosen = await Channels(self.database).of(team_id, channel_id)
        schedule = self.schedule.changed(chosen.digest_day, chosen.digest_time, chosen.digest_tz)
        return Place(team_id, channel_id), schedule.current(utc_now())

    async def _figures(self, channel: str) -> tuple[Place, figures_week.Figures]:
        place, found = await self._find(channel)
        return place, await figures_week.read_figures(
            Tallies(self.database), place, found, utc_now()
        )

    async def _shown(
        self, place: Place, replies: Sequence[LowCase | TimedScore]
    ) -> list[dict[str, Any]]:
        await opened.note(
            self.database, Action.EXPORTED_CHANNEL, [place.team_id], channel_id=place.channel_id
        )
        names = ("score", "highest", "judged_at", "message_ts", "thread_ts")
        return [
            {"case": each.id} | {name: getattr(each, name) for name in names} for each in replies
        ]


def _to_stats(figures: figures_week.Figures) -> dict[str, Any]:
    this, usage, quality = figures.this, figures.usage, figures.quality
    low, good = evaluation_stats.low_to(figures.scale), evaluation_stats.good_from(figures.scale)
    below = this.share_up_to(good - 1)
    return {
        "week": f"{figures.week.first_day}",
        "judge_version": figures.kind.version,
        "scale": figures.scale,
        "scored": this.n,
        "mean": this.mean,
        "replies_by_score": dict(sorted(this.counts.items()))
        if this.n >= figures_week.FEWEST
        else None,
        f"share_up_to_{low}": this.share_up_to(low),
        f"share_from_{good}": None if below is None else 1 - below,
        "change": figures.change,
        "trend": [
            {"week": f"{each.week.first_day}", "mean": each.mean, "judge_version": each.version}
            for each in figures.trend
        ],
        "corrected_mean": quality.mean.corrected if quality and not quality.mean.missing else None,
        "unscored": figures.unscored,
        "scored_otherwise": figures.off_scale + figures.off_version,
        "cost_usd": usage.cost_usd if usage.with_cost == usage.cases else None,
    }


def _to_agreement(found: Agreement | None) -> dict[str, Any]:
    if found is None or found.n < evaluation_stats.MIN_LABELS:
        return {"n": found.n if found else 0}
    return asdict(found)
