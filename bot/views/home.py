"""The Home tab. Slack's charts stand in messages only, so that a trend is a line of characters here.

Source: https://docs.slack.dev/surfaces/app-home
"""

from collections.abc import Sequence
from typing import Any

from bot.domain.case import Visibility
from bot.domain.verdict import MADE_UP, OFFLINE
from bot.slack import ids
from bot.slack.mrkdwn import clip
from bot.views.charts import judge_change, trend_line
from bot.views.digest import counted, measures, not_counted
from bot.views.elements import actions, button, context, header, option, section, short_date
from bot.views.recent import recent_blocks
from bot.views.watch import line
from bot.weeks.figures import Glance
from bot.weeks.home import ChannelWeek, Home
from bot.weeks.watches import CountedWatch

AS_THE_WORKSPACE = "workspace"
MOST_WATCHES = 10

_ERROR_ROOM = 80
_WELCOME = (
    "I score replies where they happen: open the menu of a message (⋮ *More actions*) and choose *Score this reply*."
)
_NO_CASES = "You have not asked for a score yet. What you ask for is listed here, wherever it was."
_NO_CHANNELS = "Nothing was scored in your channels in the last two weeks. Where something is, its week stands here."
_NO_LOG = "I cannot read my log right now, so there is nothing to show. Press *Refresh* in a minute."
_SWITCH_ON = "Switch digest on", ids.ACTION_DIGEST_ON
_SWITCH_OFF = "Switch digest off", ids.ACTION_DIGEST_OFF
_NO_MODEL = {MADE_UP: "made up", OFFLINE: "offline rater, no model"}
_AUDIENCE = {Visibility.THREAD: "Everybody in the thread", Visibility.ME: "Only me"}


def home_view(
    home: Home,
    workspace_url: str,
    default: Visibility,
    channel_id: str,
    note: str = "",
    waiting: int = 0,
    watches: Sequence[CountedWatch] = (),
    more_watches: int = 0,
) -> dict[str, Any]:
    """A person's Home tab.

    Args:
        home: What they may see.
        workspace_url: Where links to messages begin.
        default: Who sees verdicts where a person has chosen nothing.
        channel_id: Their direct messages with the app, which a click in the tab does not bring along.
        note: What became of the last click, if that has to be said.
        waiting: How many replies they could score blind.
        watches: What their channels watch.
        more_watches: How many watches are not among these.
    """
    blocks = [*_top(note, waiting), context(f"As of {short_date(home.made_at)}")]
    blocks += [header("Your cases"), *_cases(home, workspace_url)]
    blocks += [header("Your channels, this week so far"), *_channels(home)]
    blocks += _watches(watches, more_watches)
    blocks += [header("Who sees your verdicts"), _visibility(home.visibility, default)]
    return _home(blocks, channel_id)


def no_log_view(channel_id: str) -> dict[str, Any]:
    """The Home tab while the log cannot be read."""
    return _home([*_top(""), section(_NO_LOG)], channel_id)


def _home(blocks: list[dict[str, Any]], channel_id: str) -> dict[str, Any]:
    return {"type": "home", "callback_id": ids.VIEW_HOME, "private_metadata": channel_id, "blocks": blocks}


def _top(note: str, waiting: int = 0) -> list[dict[str, Any]]:
    judge = button("Judge something", ids.ACTION_HOME_JUDGE) | {"style": "primary"}
    blind = [button(f"Score a few blind ({waiting:,})", ids.ACTION_BLIND)] if waiting else []
    row = actions(judge, *blind, button("Refresh", ids.ACTION_HOME_REFRESH))
    said = [section(f":warning: {note}")] if note else []
    return [section(_WELCOME), row, *said]


def _cases(home: Home, workspace_url: str) -> list[dict[str, Any]]:
    if not home.cases:
        return [section(_NO_CASES)]
    older = [context("`/judge recent` lists the older ones.")] if home.has_older else []
    return recent_blocks(home.cases, workspace_url) + older


def _channels(home: Home) -> list[dict[str, Any]]:
    if home.unsure:
        error = clip(home.unsure, _ERROR_ROOM)
        return [section(f"Slack does not tell me which channels you are in (`{error}`), so I show nothing of them.")]
    if not home.channels:
        return [section(_NO_CHANNELS)]
    more = [context(f"And {home.more} more: type `/judge stats` there.")] if home.more else []
    return [_channel(each) for each in home.channels] + more


def _channel(channel: ChannelWeek) -> dict[str, Any]:
    glance, channel_id = channel.glance, channel.settings.channel_id
    week = counted(glance) if glance.this.n else "nothing that people chose has a score yet"
    lines = [
        f"*<#{channel_id}>*{_without_model(glance)}: {week}",
        measures(glance),
        trend_line(glance),
        judge_change(glance),
        not_counted(glance),
        _digest(channel),
    ]
    block = section("\n".join(line for line in lines if line))
    if channel.may_switch:
        is_on = channel.settings.is_digest_on
        label, action_id = _SWITCH_OFF if is_on else _SWITCH_ON
        block["accessory"] = button(label, action_id, channel_id)
    return block | {"block_id": f"channel-{channel_id}"}


def _watches(watches: Sequence[CountedWatch], more: int) -> list[dict[str, Any]]:
    if not watches:
        return []
    lines = [section(f"<#{each.watch.channel_id}>: {line(each)}") | {"accessory": _change(each)} for each in watches]
    rest = [context(f"And {more:,} more: type `/judge watch` there.")] if more else []
    return [header("What your channels watch"), *lines, *rest]


def _change(each: CountedWatch) -> dict[str, Any]:
    return button("Change", ids.ACTION_HOME_WATCH, f"{each.watch.channel_id}:{each.watch.author_id}")


def _without_model(glance: Glance) -> str:
    partly = "partly " if len(glance.raters) > 1 else ""
    marks = [f"{partly}{mark}" for rater, mark in _NO_MODEL.items() if rater in glance.raters]
    return f" ({', '.join(marks)})" if marks else ""


def _digest(channel: ChannelWeek) -> str:
    return f"Digest every {channel.schedule}." if channel.settings.is_digest_on else "No weekly digest."


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
