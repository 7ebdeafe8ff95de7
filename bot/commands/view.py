"""`judge-bot view`: an HTML page of a channel's scored replies, with what the channel may see."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import typer
from sqlalchemy import Row

from bot.commands.channels import find_place
from bot.commands.export import to_row
from bot.commands.opened import note, opened_database, reading
from bot.errors import BotError
from bot.pipeline.verdict_text import in_short
from bot.settings import StoreSettings, load
from bot.store.audit import Action
from bot.store.export import Exports, Selection
from bot.store.names import Names
from judge import Turn
from judge.cli.row_commands import to_sentence
from judge.evaluation.view import save_page
from judge.evaluation.view.replies import MOST_REPLIES, Reader, Replies
from judge.scoring.rubric import Scale

_CARRIED = (
    *("mean", "flags", "weighted_score"),
    *("input_tokens", "output_tokens", "latency_ms", "cost_usd"),
)


async def view(
    channel: str, path: Path | None, since: datetime | None, *, watched: bool = False
) -> None:
    async with opened_database() as database:
        exports = Exports(database)
        with reading():
            team_id, channel_id = await find_place(channel, database)
            name = (await Names(database).all()).get((team_id, channel_id))
            which = Selection(since, True, watched, team_id, channel_id)
            _check_number(await exports.count(which), which, channel_id)
        await note(database, Action.EXPORTED_CHANNEL, [team_id], channel_id=channel_id)
        with reading():
            found = await _read(exports, which)
    page = path or Path(f"{channel_id}.html")
    size = save_page(page, _title(which, name), found)
    typer.echo(to_sentence(page, len(found.replies), size))


async def _read(exports: Exports, which: Selection) -> Replies:
    has_texts = load(StoreSettings).store_text == "full"
    reader = Reader()
    async for labelled, ratings, said in exports.rows(which):
        row = _to_row(labelled, ratings, said if has_texts else None)
        reader.add(labelled.id, row, Scale(labelled.lowest, labelled.highest))
    return reader.finish()


def _title(which: Selection, name: str | None) -> str:
    title = f"#{name}" if name else f"{which.channel_id}"
    kind = ", random replies" if which.watched else ""
    return f"{title}{kind}{_since(which)}"


def _since(which: Selection) -> str:
    return f" since {which.since:%Y-%m-%d}" if which.since else ""


def _check_number(number: int, which: Selection, channel_id: str) -> None:
    if not number:
        kind = "that watches drew" if which.watched else "that people chose"
        hint = "name an earlier day" if which.since else "name another channel"
        if not which.watched:
            hint = f"--watched shows those that watches drew, or {hint}"
        raise BotError(f"{channel_id}: no reply {kind} was scored there{_since(which)}; {hint}")
    if number > MOST_REPLIES:
        raise BotError(
            f"{channel_id}: {number:,} replies are more than the {MOST_REPLIES:,} that a page can "
            "hold; name a (later) day with --since"
        )


def _to_row(
    labelled: Row[Any], ratings: Sequence[Row[Any]], said: Sequence[Turn] | None
) -> dict[str, Any]:
    """The exported row with the rest of the verdict; without texts, it has numbers only."""
    usable = sum(rating.score is not None for rating in ratings)
    texts = ("justification",) if said is not None else ()
    row = to_row(labelled, said or (), has_texts=said is not None)
    row |= {name: getattr(labelled, name) for name in (*_CARRIED, *texts)}
    row |= {"prompt_id": None, "thread": labelled.thread_ts}
    row["unscored_detail"] = (
        in_short(labelled.unscored_reason) if labelled.unscored_reason else None
    )
    row["basis"] = f"{usable} of {len(ratings)}" if ratings else None
    of_rating = "model", "score", "unscored_reason", *texts
    return row | {
        "ratings": [{name: getattr(each, name) for name in of_rating} for each in ratings]
    }
