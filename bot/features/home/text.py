"""The Home tab.

Source: https://docs.slack.dev/surfaces/app-home
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.domain.case import Visibility
from bot.pipeline.own_cases import ListedCase, recent_blocks
from bot.slack import ids
from bot.slack.blocks import Block, actions, button, context, header, option, section, short_date

AS_THE_WORKSPACE = "workspace"

_WELCOME = (
    "I score replies where they happen: open the menu of a message (⋮ *More actions*) and choose *Score this reply*."
)
_NO_CASES = "You have not asked for a score yet. What you ask for is listed here, wherever it was."
_NO_STORE = "I cannot read my log right now, so there is nothing to show. Press *Refresh* in a minute."
_AUDIENCE = {Visibility.THREAD: "Everybody in the thread", Visibility.ME: "Only me"}


@dataclass(frozen=True)
class Own:
    """A person's own part of their Home tab, as it was at `made_at`; `visibility` is None where they chose none."""

    cases: Sequence[ListedCase]
    has_older: bool
    visibility: Visibility | None
    made_at: datetime


def home_view(
    own: Own,
    workspace_url: str,
    default: Visibility,
    channel_id: str,
    note: str = "",
    buttons: Sequence[Block] = (),
    sections: Sequence[Block] = (),
) -> dict[str, Any]:
    """A person's Home tab; `default` is who sees verdicts where they chose nothing.

    `channel_id` are their direct messages with the app, which a click in the tab does not bring along.
    """
    blocks = [*_top(note, buttons), context(f"As of {short_date(own.made_at)}")]
    cases = recent_blocks(own.cases, workspace_url) if own.cases else [section(_NO_CASES)]
    older = [context("`/judge recent` lists the older ones.")] if own.has_older else []
    blocks += [header("Your cases"), *cases, *older, *sections]
    blocks += [header("Who sees your verdicts"), _visibility(own.visibility, default)]
    return _home(blocks, channel_id)


def no_store_view(channel_id: str) -> dict[str, Any]:
    return _home([*_top(""), section(_NO_STORE)], channel_id)


def _home(blocks: list[dict[str, Any]], channel_id: str) -> dict[str, Any]:
    return {"type": "home", "callback_id": ids.VIEW_HOME, "private_metadata": channel_id, "blocks": blocks}


def _top(note: str, buttons: Sequence[Block] = ()) -> list[dict[str, Any]]:
    judge = button("Judge something", ids.ACTION_HOME_JUDGE) | {"style": "primary"}
    row = actions(judge, *buttons, button("Refresh", ids.ACTION_HOME_REFRESH))
    said = [section(f":warning: {note}")] if note else []
    return [section(_WELCOME), row, *said]


def _visibility(chosen: Visibility | None, default: Visibility) -> dict[str, Any]:
    as_set = option(AS_THE_WORKSPACE, "Workspace default")
    options = {None: as_set} | {each: option(each, label) for each, label in _AUDIENCE.items()}
    select = {
        "type": "static_select",
        "action_id": ids.ACTION_HOME_VISIBILITY,
        "options": list(options.values()),
        "initial_option": options[chosen],
    }
    words = f"The workspace's default is: {_AUDIENCE[default].lower()}. In a channel, the window of `/judge` asks."
    return section(words) | {"accessory": select}
