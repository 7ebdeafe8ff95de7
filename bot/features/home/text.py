"""The Home tab.

Source: https://docs.slack.dev/surfaces/app-home
"""

from collections.abc import Sequence
from typing import Any

from bot.domain.case import Visibility
from bot.features.home.reader import Own
from bot.pipeline.own_cases import recent_blocks
from bot.slack import ids
from bot.slack.blocks import Block, actions, button, context, header, option, section, short_date

AS_THE_WORKSPACE = "workspace"

_WELCOME = (
    "I score replies where they happen: open the menu of a message (⋮ *More actions*) and choose *Score this reply*."
)
_NO_CASES = "You have not asked for a score yet. What you ask for is listed here, wherever it was."
_NO_LOG = "I cannot read my log right now, so there is nothing to show. Press *Refresh* in a minute."
_AUDIENCE = {Visibility.THREAD: "Everybody in the thread", Visibility.ME: "Only me"}


def home_view(
    own: Own,
    workspace_url: str,
    default: Visibility,
    channel_id: str,
    note: str = "",
    buttons: Sequence[Block] = (),
    sections: Sequence[Block] = (),
) -> dict[str, Any]:
    """A person's Home tab.

    Args:
        own: Their own cases and choices.
        workspace_url: Where links to messages begin.
        default: Who sees verdicts where a person has chosen nothing.
        channel_id: Their direct messages with the app, which a click in the tab does not bring along.
        note: What became of the last click, if that has to be said.
        buttons: What the features put at its top.
        sections: What the features show in it.
    """
    blocks = [*_top(note, buttons), context(f"As of {short_date(own.made_at)}")]
    blocks += [header("Your cases"), *_cases(own, workspace_url), *sections]
    blocks += [header("Who sees your verdicts"), _visibility(own.visibility, default)]
    return _home(blocks, channel_id)


def no_log_view(channel_id: str) -> dict[str, Any]:
    """The Home tab while the log cannot be read."""
    return _home([*_top(""), section(_NO_LOG)], channel_id)


def _home(blocks: list[dict[str, Any]], channel_id: str) -> dict[str, Any]:
    return {"type": "home", "callback_id": ids.VIEW_HOME, "private_metadata": channel_id, "blocks": blocks}


def _top(note: str, buttons: Sequence[Block] = ()) -> list[dict[str, Any]]:
    judge = button("Judge something", ids.ACTION_HOME_JUDGE) | {"style": "primary"}
    row = actions(judge, *buttons, button("Refresh", ids.ACTION_HOME_REFRESH))
    said = [section(f":warning: {note}")] if note else []
    return [section(_WELCOME), row, *said]


def _cases(own: Own, workspace_url: str) -> list[dict[str, Any]]:
    if not own.cases:
        return [section(_NO_CASES)]
    older = [context("`/judge recent` lists the older ones.")] if own.has_older else []
    return recent_blocks(own.cases, workspace_url) + older


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
