"""`judge-bot mcp`: a channel's figures for an assistant, by the digest's rules and without texts."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from bot.commands import opened
from bot.commands.channels import find_place
from bot.commands.export_standings import to_row
from bot.domain.clock import utc_now
from bot.domain.outcome import counted
from bot.domain.standing import Subject, subject_of
from bot.domain.week import Schedule
from bot.errors import BotError
from bot.figures.outcomes import WEEKS, channels_of, read_outcomes
from bot.figures.week import FEWEST, Chosen, Details, read_chosen, read_details
from bot.settings import ReaderSettings, load
from bot.store.channels import Channels
from bot.store.database import Database
from bot.store.export import Exports
from bot.store.figures import Place
from bot.store.names import Names
from bot.store.standings import Standings
from bot.store.tallies import Tallies
from bot.store.watches import Watches
from judge.evaluation.distributions import SURE
from judge.evaluation.stats import MIN_LABELS

Channel = Annotated[str, Field(description="The channel's id, such as C0123ABCD, or its name.")]


async def serve() -> None:
    """Answers on standard input and output until the input is closed."""
    settings = load(ReaderSettings)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # asyncio would wait for the thread that reads
    async with opened.opened_database() as database:
        schedule = Schedule.parse(settings.digest_day, settings.digest_time, settings.digest_tz)
        tools = Tools(database, schedule)
        server = MCPServer[None]("slack-judge", version=version("slack-judge"), log_level="WARNING")
        for tool in (tools.channels, tools.stats):
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
    database: Database
    schedule: Schedule  # of channels that have chosen none

    async def channels(self) -> list[dict[str, Any]]:
        """List the channels with replies that people chose to score."""
        with _explained():
            names = {id_: name for (_, id_), name in (await Names(self.database).all()).items()}
            channel_ids = await Exports(self.database).channels()
        return [{"channel": id_, "name": names.get(id_)} for id_ in channel_ids]

    async def stats(self, channel: Channel) -> dict[str, Any]:
        """Give the standings of the assistants that are watched in a channel, and the figures of
        the replies that people chose in its week so far.

        Null means unknown, or fewer than 5 scores. A list of three is a value with the ends of its
        95% interval.

        Of the `standings`, `direction` alone says whether an assistant has changed, and `whose`
        whose change it is; `level` is its mean since `since`, or over four weeks. What people chose is
        no sample, so it has no direction: its `mean` is over four weeks, `replies_by_score` is the
        week's. `corrected_mean` is what people would give on average, by their blind
        labels; it needs 20. `scored_otherwise` counts replies scored by another judge or on another
        scale, which are in no other figure.

        The `outcomes` of an assistant say what came of the questions to it in four weeks: how many
        were answered, after how many seconds (`median`, and the slowest tenth), in how many a
        colleague wrote, and what a model read after the answer, in `read` threads. `signs` are
        of the `known` questions; the others are `too_new`, or were not read.

        `agreement` says how often the judge and people agree, over all `n` labelled replies, from
        20 on: `blind` if people had not seen the score, `seen` if they had. `is_unlike`: the week's
        scores differ from those of the labelled replies, so label new ones.
        """
        now = utc_now()
        tallies = Tallies(self.database)
        with _explained():
            place = Place(*await find_place(channel, self.database))
            own = await Channels(self.database).of(place.team_id, place.channel_id)
            schedule = self.schedule.changed(own.digest_day, own.digest_time, own.digest_tz)
            chosen = await read_chosen(tallies, place, schedule.current(now), now)
            details = await read_details(tallies, place, chosen)
            standings = await self._standings(place)
        return {"standings": standings, **_to_stats(chosen, details)}

    async def _standings(self, place: Place) -> list[dict[str, Any]]:
        names = await Names(self.database).all()
        standings = await Standings(self.database).of_team(place.team_id)
        watches = await Watches(self.database).of(place.team_id)
        rows = list[dict[str, Any]]()
        for watch in watches:
            subject = subject_of(watch)
            standing = standings.get(subject)
            if standing and watch.channel_id == place.channel_id:
                name = names.get((place.team_id, watch.author_id))
                outcomes = await self._outcomes(subject, channels_of(subject, watches))
                rows.append({"assistant": name, **to_row(standing), "outcomes": outcomes})
        return rows

    async def _outcomes(self, subject: Subject, channels: Sequence[str]) -> dict[str, Any]:
        now = utc_now()
        came = await read_outcomes(self.database, subject, channels, now - WEEKS, now)
        outcomes = asdict(counted(came))
        for wait in ("median", "slowest_tenth"):
            outcomes[wait] = outcomes[wait] and outcomes[wait].total_seconds()
        return outcomes


def _to_stats(chosen: Chosen, details: Details) -> dict[str, Any]:
    scores = chosen.this
    quality = details.quality
    agreement: dict[str, Any] = {"is_unlike": False}
    for name, found in (("blind", details.blind), ("seen", details.seen)):
        agreement[name] = {"n": found.n if found else 0}
        if found and found.n >= MIN_LABELS:
            agreement[name]["within_one"] = found.within_one
            agreement["is_unlike"] = details.unlike < SURE
    return {
        "week": f"{chosen.week.first_day}",
        "judge_version": chosen.kind.version,
        "scale": chosen.scale,
        "scored": scores.n,
        "mean": chosen.level.mean,
        "replies_by_score": dict(sorted(scores.counts.items())) if scores.n >= FEWEST else None,
        "corrected_mean": quality.mean.corrected if quality and not quality.mean.missing else None,
        "agreement": agreement,
        "unscored": chosen.unscored,
        "scored_otherwise": chosen.otherwise,
    }
