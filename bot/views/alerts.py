"""What is said when a watched assistant gets worse, or its watch has no scores; never a text that was scored."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from bot.domain.watch import Watch
from bot.slack.mrkdwn import clip
from bot.slack.post import Post
from bot.store.figures import TimedScore
from bot.views.elements import context, section, short_date
from bot.views.links import permalink
from judge.drift import Drop
from judge.rubric import Scale

_NAME = 80
_HOW = "Random replies, tested after each one; `/judge watch` says what is watched."
TESTED_JUST_NOW = "I sent a test of this watch less than a minute ago, and send one a minute at most."
NOT_WATCHED = "That assistant is not watched in this channel any more."
_KNOWN = {
    "not_in_channel": "not in this channel, whose figures an alert names",
    "cannot_dm_bot": "a bot reads no alerts",
    "messages_tab_disabled": "the app may not write direct messages",
    "is_archived": "the channel is archived",
    "restricted_action": "the channel lets nobody but its admins write",
    "user_disabled": "that account is closed",
    "user_not_found": "that account is closed",
}
_ONCE = "While it lasts I say so once in seven days."


def worse_alert(
    watch: Watch,
    name: str,
    drop: Drop,
    since: Sequence[TimedScore],
    lowest: Sequence[TimedScore],
    scale: Scale,
    workspace_url: str,
) -> Post:
    """An assistant has become clearly worse, or is below its floor; with its lowest replies since then."""
    replies = "reply" if len(since) == 1 else "replies"
    text = (
        f"*{clip(name, _NAME)}* in <#{watch.channel_id}> {_what(watch, drop, scale)}, "
        f"since {short_date(since[0].judged_at)} ({len(since)} random {replies})."
    )
    lines = [_line(each, scale, workspace_url, watch.channel_id) for each in lowest]
    return _post(text, section("\n".join(["*Lowest since then*", *lines])), context(f"{_HOW} {_ONCE}"))


def silent_alert(watch: Watch, name: str, expected: int, silent_for: timedelta) -> Post:
    """A watch has no scores, though replies were drawn."""
    hours = round(silent_for.total_seconds() / 3600)
    text = (
        f"The watch on *{clip(name, _NAME)}* in <#{watch.channel_id}> has no score of the last {hours} hours, though "
        f"{expected} replies were drawn. Whoever runs the app finds the reason in its log: the judge may not answer."
    )
    return _post(text)


def gone_alert(watch: Watch, name: str, before: int) -> Post:
    """Nothing was seen of an assistant for a week."""
    return _post(
        f"I have seen no reply of *{clip(name, _NAME)}* in <#{watch.channel_id}> for a week, after {before:,} in the "
        "week before. It may have left, or have come back as another app, which is not watched: `/judge watch` "
        "changes that."
    )


def test_alert(watch: Watch, name: str) -> Post:
    """What an alert would reach, if there were one."""
    return _post(
        f"A test, and no more: here I say when *{clip(name, _NAME)}* in <#{watch.channel_id}> gets clearly worse."
    )


def tested(watch: Watch, missed: Mapping[str, str]) -> str:
    """Whom a test has reached, and whom not, and why."""
    if not watch.alerts_to:
        return "Nobody hears when it gets worse, so there is nobody to send a test to; *Change* sets who does."
    got = ", ".join(_whom(watch, each) for each in watch.alerts_to if each not in missed)
    lines = [f"The test went to {got}."] if got else []
    lines += [f"It did not reach {_whom(watch, each)}: {_why(error)}." for each, error in missed.items()]
    return "\n".join(lines)


def _whom(watch: Watch, to: str) -> str:
    return f"<#{to}>" if to == watch.channel_id else f"<@{to}>"


def _why(error: str) -> str:
    return _KNOWN.get(error) or f"Slack says `{clip(error, _NAME)}`"


def _what(watch: Watch, drop: Drop, scale: Scale) -> str:
    before, after = drop.before, drop.after
    if drop.kind == "floor":
        return f"is clearly below {watch.floor:g}, which this channel wishes for: mean {after.mean:.1f}"
    what = f"mean {after.mean:.1f} after {before.mean:.1f}"
    if drop.kind == "low share":
        low = (scale.low + scale.high - 1) // 2
        what = f"{after.low_share:.0%} of its replies have {scale.low} to {low} after {before.low_share:.0%}, {what}"
    return f"has become clearly worse than in the four weeks before: {what}"


def _line(each: TimedScore, scale: Scale, workspace_url: str, channel_id: str) -> str:
    score, ts = f"Score {each.score} of {scale.high}", each.message_ts or ""
    link = permalink(workspace_url, channel_id, ts, each.thread_ts)
    return f"• <{link}|{score}> · {short_date(each.judged_at)} · case {each.id}"


def _post(text: str, *more: dict[str, object]) -> Post:
    return Post(text.replace("*", ""), [section(text), *more])
