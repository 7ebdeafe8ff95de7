"""`judge-bot view`: what a channel may see of its scored replies, as a page for the browser."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import typer

from bot.commands.opened import note, opened_log, operator, reading
from bot.errors import BotError
from bot.pipeline.verdict_text import in_short
from bot.settings import load_log_settings
from bot.store.audit import Act, Action
from bot.store.export import Channel, JudgedReply
from judge.cli.row_commands import to_sentence
from judge.rubric import Scale
from judge.view import save_page
from judge.view.replies import MOST_REPLIES, Reader

_LONGEST_ID = 40
_CARRIED = (
    *("score", "mean", "model", "rubric", "rubric_version", "flags", "weighted_score"),
    *("input_tokens", "output_tokens", "latency_ms", "cost_usd"),
)


async def view(channel: str, path: Path | None, since: datetime | None, *, watched: bool = False) -> None:
    """Writes the page, and says how large it is.

    Raises:
        BotError: There is nothing to show, too much of it, it is not clear which channel is meant, or the log cannot
            be read.
        SetupError: The page cannot be written.
    """
    has_texts = load_log_settings().store_text == "full"
    reader = Reader()
    async with opened_log() as store:
        logged = Channel(store.database, watched=watched)
        with reading():
            team_id, channel_id = await _find_channel(logged, channel)
            await _check_number(logged, team_id, channel_id, since)
        await note(store, [Act(team_id, operator(), Action.EXPORTED_CHANNEL, channel_id=channel_id)])
        with reading():
            async for reply in logged.replies(team_id, channel_id, since):
                for row in to_rows(reply, has_texts=has_texts):
                    reader.add(reply.id, row, _scale(reply))
    found = reader.finish()
    page = path or Path(f"{channel_id}.html")
    title = channel_id + (", random replies" if watched else "") + (f" since {since:%Y-%m-%d}" if since else "")
    size = save_page(page, title, found)
    typer.echo(to_sentence(page, len(found.replies), size))


async def _find_channel(logged: Channel, channel: str) -> tuple[str, str]:
    team_id, _, channel_id = channel.rpartition("/")
    teams = [each for each in await logged.teams(channel_id) if team_id in {"", each}]
    if not teams:
        raise BotError(
            f"--channel {channel[:_LONGEST_ID]!r}: no reply was scored there for all of the channel to see; expected "
            "a channel's id, such as C0123ABCD (its name > About, at the bottom)"
        )
    if len(teams) > 1:
        names = ", ".join(f"--channel {each}/{channel_id}" for each in teams)
        raise BotError(f"--channel {channel!r}: there is one in each of {len(teams)} workspaces; say which: {names}")
    return teams[0], channel_id


async def _check_number(logged: Channel, team_id: str, channel_id: str, since: datetime | None) -> None:
    number = await logged.count(team_id, channel_id, since)
    if not number:
        raise BotError(
            f"--since {since:%Y-%m-%d}: nothing was judged in {channel_id} from then on; name an earlier day"
        )
    if number > MOST_REPLIES:
        raise BotError(
            f"{channel_id}: {number:,} replies are more than the {MOST_REPLIES:,} that a page can hold; name a (later) "
            "day with --since"
        )


def to_rows(reply: JudgedReply, *, has_texts: bool) -> Iterator[dict[str, Any]]:
    """The reply as rows that the page is made from, one for each label; without texts, numbers alone."""
    usable = sum(rating.score is not None for rating in reply.ratings)
    row: dict[str, Any] = {name: getattr(reply, name) for name in _CARRIED} | {
        "case": reply.id,
        "thread": reply.thread_ts,
        "judged_at": reply.judged_at.isoformat(),
        "unscored_detail": in_short(reply.unscored_reason) if reply.unscored_reason else None,
        "basis": f"{usable} of {len(reply.ratings)}" if reply.ratings else None,
        "ratings": [
            {
                "model": each.model,
                "score": each.score,
                "unscored_reason": each.unscored_reason,
                "justification": each.justification if has_texts else None,
            }
            for each in reply.ratings
        ],
    }
    if has_texts:
        row |= {"prompt": reply.question, "completion": reply.response, "justification": reply.justification}
    if not reply.labels:
        yield row
    for label in reply.labels:
        yield row | {
            "human": label.score,
            "blind": label.is_blind,
            "probability": label.probability,
            "reason": label.reason if has_texts else None,
        }


def _scale(reply: JudgedReply) -> Scale:
    """The rubric's scale; 0 to 5 where the log does not tell."""
    return Scale(0 if reply.lowest is None else reply.lowest, 5 if reply.highest is None else reply.highest)
