"""`judge-bot view`: what a channel may see of its scored replies, as a page for the browser."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import typer
from sqlalchemy import Row

from bot.commands.export import to_row
from bot.commands.opened import note, opened_database, operator, reading
from bot.errors import BotError
from bot.pipeline.verdict_text import in_short
from bot.settings import load_log_settings
from bot.store.audit import Act, Action
from bot.store.export import Exports, Selection
from judge.cli.row_commands import to_sentence
from judge.rubric import Scale
from judge.view import save_page
from judge.view.replies import MOST_REPLIES, Reader

_LONGEST_ID = 40
_CARRIED = (
    *("mean", "justification", "flags", "weighted_score"),
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
    async with opened_database() as database:
        exports = Exports(database)
        with reading():
            place = await _find_channel(exports, channel, watched=watched)
            which = Selection(since, has_unlabelled=True, watched=watched, place=place)
            await _check_number(exports, which, place[1])
        await note(database, [Act(place[0], operator(), Action.EXPORTED_CHANNEL, channel_id=place[1])])
        with reading():
            async for labelled, ratings in exports.rows(which, has_ratings=True):
                low, high = labelled.lowest, labelled.highest  # 0 to 5 where the log does not tell
                scale = Scale(0 if low is None else low, 5 if high is None else high)
                reader.add(labelled.id, _to_row(labelled, ratings, has_texts), scale)
    channel_id = place[1]
    found = reader.finish()
    page = path or Path(f"{channel_id}.html")
    title = channel_id + (", random replies" if watched else "") + (f" since {since:%Y-%m-%d}" if since else "")
    size = save_page(page, title, found)
    typer.echo(to_sentence(page, len(found.replies), size))


async def _find_channel(exports: Exports, channel: str, *, watched: bool) -> tuple[str, str]:
    team_id, _, channel_id = channel.rpartition("/")
    teams = [each for each in await exports.teams(channel_id, watched=watched) if team_id in {"", each}]
    if not teams:
        raise BotError(
            f"--channel {channel[:_LONGEST_ID]!r}: no reply was scored there for all of the channel to see; expected "
            "a channel's id, such as C0123ABCD (its name > About, at the bottom)"
        )
    if len(teams) > 1:
        names = ", ".join(f"--channel {each}/{channel_id}" for each in teams)
        raise BotError(f"--channel {channel!r}: there is one in each of {len(teams)} workspaces; say which: {names}")
    return teams[0], channel_id


async def _check_number(exports: Exports, which: Selection, channel_id: str) -> None:
    number = await exports.count(which)
    if not number:
        raise BotError(
            f"--since {which.since:%Y-%m-%d}: nothing was judged in {channel_id} from then on; name an earlier day"
        )
    if number > MOST_REPLIES:
        raise BotError(
            f"{channel_id}: {number:,} replies are more than the {MOST_REPLIES:,} that a page can hold; name a (later) "
            "day with --since"
        )


def _to_row(labelled: Row[Any], ratings: Sequence[Row[Any]], has_texts: bool) -> dict[str, Any]:
    """The exported row with the rest of the verdict; without texts, numbers alone."""
    usable = sum(rating.score is not None for rating in ratings)
    row = to_row(labelled, has_texts) | {name: getattr(labelled, name) for name in _CARRIED}
    row |= {"prompt_id": None, "thread": labelled.thread_ts}
    row["unscored_detail"] = in_short(labelled.unscored_reason) if labelled.unscored_reason else None
    row["basis"] = f"{usable} of {len(ratings)}" if ratings else None
    row["ratings"] = [
        {
            "model": each.model,
            "score": each.score,
            "unscored_reason": each.unscored_reason,
            "justification": each.justification if has_texts else None,
        }
        for each in ratings
    ]
    if not has_texts:
        row["justification"] = None
    return row
