"""The texts about watches: the settings of each, the outcomes of replies, and the alerts."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from math import floor

from bot.domain.watch import Coverage, ReplyOutcome, Shows, Watch, is_channel
from bot.features.watch import ids
from bot.features.watch.figures import CountedWatch
from bot.features.watch.queries import Unread, is_order
from bot.figures.lowest import ids_of, low_blocks
from bot.figures.quality import span
from bot.slack import blocks as ui
from bot.slack.messenger import Post, sentence, to_post
from bot.slack.mrkdwn import clip
from bot.store.figures import LowCase
from judge.evaluation.stats import Interval
from judge.scoring.numbers import number_of
from judge.scoring.rubric import Scale
from judge.scoring.ways import DISTRIBUTION

_MOST_NAMED = 10
_SHOWN = {
    Shows.NOTHING: "Scores are not posted; the digest and `/judge stats` count them.",
    Shows.REACTION: "Each score appears as a reaction.",
    Shows.VERDICT: "Each verdict is posted in the thread.",
}
NO_BOTS = (
    "No bot has written in this channel lately, and none is a member, so there is nothing to watch."
)
MOST_SHOWN = 10
HELP = """\
• `/judge watch @assistant` opens a window with all settings
• `/judge watch @assistant all` scores all of its replies to people here, at most 50 a day
• `/judge watch @assistant 1 in 5` scores a random fifth, `/judge watch @assistant 20 a day` at most 20 a day
• Add `nothing`, `reaction` or `verdict` to choose what the channel sees of each score (default: `nothing`)
• Add `alert here`, `alert me` or `alert off` to choose who is alerted when it gets worse or better (default: you)
• Add `alert low` to alert of each reply with the lowest scores (0 or 1 of 5), too; `alert low off` ends that
• Write `everywhere` after the name for all public channels that I am in, or am invited to later
• `/judge watch off @assistant` ends the watch, `/judge watch` lists what is watched"""
_MAY_FOLLOW = (
    "After the name you can write, in this order: `everywhere`; `all` or `1 in 5` (1 to 9,999); `40 a day` (1 "
    "to 99,999); `nothing`, `reaction` or `verdict`; `alert here`, `alert me` or `alert off`; "
    "`alert low`. `off` alone ends it."
)
NO_REACTIONS = (
    "I cannot add reactions here: the app lacks the scope `reactions:write`, which "
    "`manifest.yml` has. `nothing` and `verdict` work without it."
)
ENDED_MEANS = (
    "Its replies will no longer be scored automatically, and no alerts will be sent. Past "
    "scores stay in the figures."
)
_OUTCOMES = {
    ReplyOutcome.PASSED: "not drawn",
    ReplyOutcome.TAKEN: "scored or in progress",
    ReplyOutcome.BROKE_OFF: "broke off",
    None: "waiting",
    ReplyOutcome.NO_ANSWER: "drawn, but not an answer to a person",
    ReplyOutcome.EDITED: "drawn, but the question was edited later",
    ReplyOutcome.DELETED: "deleted before scoring",
    ReplyOutcome.OVER: "over a limit",
    ReplyOutcome.MISSED: "missed or unscored",
}


def state(counted: Sequence[CountedWatch]) -> Post:
    if not counted:
        text = f"Nothing is watched in this channel.\n{HELP}"
        return Post(
            text, [ui.section(text), ui.actions(ui.button("Watch an assistant", ids.ACTION_WATCH))]
        )
    lines = {each.watch: line(each) for each in counted[:MOST_SHOWN]}
    blocks = [
        block for watch, said in lines.items() for block in (ui.section(said), _buttons(watch))
    ]
    rest = len(counted) - MOST_SHOWN
    if rest > 0:
        blocks.append(ui.context(f"And {rest} more: `/judge watch @name` shows each."))
    another = ui.actions(ui.button("Watch another assistant", ids.ACTION_WATCH))
    return Post("\n".join(lines.values()), [*blocks, another])


def begun(watch: Watch, name: str, channel_id: str, more: str = "") -> Post:
    """The answer in a channel that a watch of it, or an order for all public channels, is set."""
    if not is_order(watch):
        text = f"*{clip(name)}* is now watched in <#{channel_id}>: {order_words(watch)} {more}"
        return to_post(text.rstrip(), _buttons(watch))
    return sentence(
        f"*{clip(name)}* is now watched in all public channels that I am in{left_out(watch)}, "
        f"{number_of(len(watch.channels), 'channel')} at present, and in those that I am invited to "
        f"later: {order_words(watch)}\nA watch that is set in a channel goes before. {more}".rstrip()
    )


def left_out(order: Watch) -> str:
    """The channels that an order leaves out, to be said after all that it includes."""
    channels = ", ".join(f"<#{channel_id}>" for channel_id in order.except_in)
    return f" but {channels}" if channels else ""


def line(counted: CountedWatch) -> str:
    parts = ", ".join([f"{counted.coverage.seen} seen", *outcomes(counted.coverage, _OUTCOMES)])
    unread = f" {not_read_since(counted.unread)}" if counted.unread else ""
    where = ", as in all public channels" if counted.watch.is_derived else ""
    return (
        f"*{clip(counted.name)}*{where}: {order_words(counted.watch)} Last 7 days: {parts}.{unread}"
    )


def not_read_since(unread: Unread) -> str:
    return (
        f"*I have not been able to read the channel since {ui.short_date(unread.since)}*: Slack "
        f"answers `{clip(unread.reason)}`. Once I can, I score replies of the last day; older "
        "ones count as missed."
    )


def outcomes(coverage: Coverage, among: Iterable[ReplyOutcome | None]) -> list[str]:
    return [
        f"{coverage.outcomes[each]} {_OUTCOMES[each]}"
        for each in among
        if coverage.outcomes.get(each)
    ]


def ask_to_end(watch: Watch, name: str) -> Post:
    """Asks whether to end a watch, or an order."""
    what = f"End the watch on *{clip(name)}*?"
    if is_order(watch):
        what = (
            f"End the watch on *{clip(name)}* in all public channels ({len(watch.channels)} at "
            "present)?"
        )
    elif watch.is_derived:
        what = (
            f"*{clip(name)}* is watched in all public channels. End it here alone? `/judge "
            f"watch off @{clip(name)} everywhere` ends it in all."
        )
    text = f"{what} {ENDED_MEANS}"
    which = f"{watch.channel_id}:{watch.author_id}"
    end = ui.button("End it", ids.ACTION_WATCH_OFF, which) | {"style": "danger"}
    return to_post(text, ui.actions(end))


def ended(name: str, where: str = "here", *, goes_on: bool = False) -> str:
    """The answer that a watch is ended; `goes_on`: in other channels it is not."""
    rest = " In all other public channels it is." if goes_on else ""
    return f"*{clip(name)}* is no longer watched {where}.{rest} Past scores stay in the figures."


def ended_by(watch: Watch, name: str, by: str) -> Post:
    return to_post(
        f"<@{by}> ended the watch on {_its(watch, name)}. Past scores stay in the figures; "
        f"`/judge watch @{clip(name)}` there begins a new one."
    )


def changed_by(watch: Watch, name: str, by: str) -> Post:
    return to_post(f"<@{by}> changed the watch on {_its(watch, name)}: {order_words(watch)}")


def no_assistant(name: str, known: Sequence[str]) -> str:
    """The answer to a name that no bot of the channel has, which may have something unknown
    behind it.
    """
    for bot in sorted(known, key=len, reverse=True):
        if name.lower().startswith(f"{bot.lower()} "):
            rest = name[len(bot) :].strip()
            return f"I do not understand `{clip(rest)}` after `@{clip(bot)}`. {_MAY_FOLLOW}"
    found = f"The bots here are {names_words(known)}." if known else "There are no bots here."
    more = f" {_MAY_FOLLOW}" if " " in name else ""
    return f"There is no bot `@{clip(name)}` in this channel. {found}{more}"


def not_watched(name: str, watched: Sequence[str], *, is_everywhere: bool = False) -> str:
    where = "in this channel"
    begin = f"/judge watch @{clip(name)}"
    if is_everywhere:
        where = "in all public channels"
        begin += " everywhere"
    found = f"These are: {names_words(watched)}." if watched else f"`{begin}` begins to watch it."
    return f"`@{clip(name)}` is not watched {where}. {found}"


def not_read(error: str) -> str:
    return (
        f"Slack does not let me read this channel (`{clip(error)}`), so I cannot watch "
        "anything in it."
    )


def _buttons(watch: Watch) -> ui.Block:
    which = f"{watch.channel_id}:{watch.author_id}"
    test = [ui.button("Send a test", ids.ACTION_TEST_ALERT, which)] if watch.alerts_to else []
    release = ui.button("Mark a release", ids.ACTION_RELEASE, which)
    return ui.actions(ui.button("Change", ids.ACTION_WATCH, which), release, *test)


def scored(watch: Watch) -> str:
    one_in = round(1 / watch.share)
    share = "all" if one_in == 1 else f"a random 1 in {one_in}"
    limit = f", at most {watch.per_day} a day" if watch.per_day else ""
    if limit and (is_order(watch) or watch.is_derived):
        limit += " in all channels together"
    return f"{share} of its replies to people{limit}. {_SHOWN[watch.shows]}"


def order_words(watch: Watch) -> str:
    alerts = "It sends no alerts."
    if watch.alerts_to:
        whom = ", ".join(_whom(each) for each in watch.alerts_to)
        below = "" if watch.floor is None else f", or its mean is clearly below {watch.floor:g}"
        low = (
            ", and of each reply that is clearly scored lowest (0 or 1 of 5)"
            if watch.low_since
            else ""
        )
        alerts = f"Alerts when it gets worse or better{below}{low}: {whom}."
    return " ".join(filter(None, [scored(watch), ask_words(watch), alerts]))


def ask_words(watch: Watch) -> str:
    """How it asks the judge, if not as people's requests do."""
    if watch.ask != DISTRIBUTION:
        return ""
    return "The judge is asked for the score alone, and for a reason where it is low or shown."


def names_words(names: Sequence[str]) -> str:
    more = ["…"] if len(names) > _MOST_NAMED else []
    return ", ".join([*(f"`@{clip(each)}`" for each in names[:_MOST_NAMED]), *more])


NOT_WATCHED = (
    "This assistant is no longer watched in this channel. Past scores stay in the figures."
)
_KNOWN = {
    "": "the test was sent",
    "not_in_channel": "not a member of this channel, whose figures an alert contains",
    "cannot_dm_bot": "bots cannot receive alerts",
    "messages_tab_disabled": "the app cannot send direct messages",
    "is_archived": "the channel is archived",
    "restricted_action": "only admins can post in the channel",
    "user_disabled": "the account is closed",
    "user_not_found": "the account is closed",
    "no answer": "Slack did not answer",
}


def floor_alert(watch: Watch, name: str, mean: Interval, low_part: Sequence[ui.Block]) -> Post:
    """The alert if an assistant's `mean` of late is clearly below its floor, with its low replies of
    the last two weeks.
    """
    whose = "is" if is_order(watch) else "this channel has"
    return to_post(
        f"{_its(watch, name)} is clearly below the {watch.floor:g} that {whose} set: mean "
        f"{span(mean, '.1f')}.",
        *low_part,
        ui.context("Looked at once a day. While this lasts, I repeat the alert every seven days."),
    )


LOW_LIMIT = "At most five a day one by one; the others of a day come together after midnight UTC."
_MOST_LOW = 10


def lowest_words(scale: Scale) -> str:
    """The scores in the lowest fifth of a scale, such as "0 or 1" on a scale of 0 to 5."""
    highest = floor(scale.low + 0.2 * (scale.high - scale.low))
    rest = {0: "", 1: f" or {highest}"}.get(highest - scale.low, f" to {highest}")
    return f"{scale.low}{rest}"


def low_alert(watch: Watch, name: str, found: Sequence[LowCase], workspace_url: str) -> Post:
    where = ", ".join(
        f"<#{channel_id}>" for channel_id in sorted({case.channel_id for case in found})
    )
    number = len(ids_of(found))
    what = f"got the lowest scores for {number} more replies in {where}"
    if number == 1:
        what = f"got *{found[0].score} of {found[0].highest}* for a reply in {where}"
    shown = found[:_MOST_LOW]
    blocks = low_blocks(shown, [name] * len(shown), workspace_url)
    if len(found) > _MOST_LOW:
        blocks.append(ui.context(f"And {len(found) - _MOST_LOW:,} more."))
    return to_post(f"*{clip(name)}* {what}", *blocks)


def silent_alert(watch: Watch, name: str, since: datetime, expected: int, cause: str) -> Post:
    return to_post(
        f"The watch on {_its(watch, name)} has had no score since {ui.short_date(since)}, although "
        f"{expected} replies were drawn. {cause}"
    )


def unread_alert(watch: Watch, name: str, unread: Unread) -> Post:
    return to_post(
        f"The watch on {_its(watch, name)} cannot find new replies. {not_read_since(unread)}"
    )


def gone_alert(watch: Watch, name: str, before: int) -> Post:
    return to_post(
        f"I have seen no reply by {_its(watch, name)} for a week, after {before:,} the week "
        "before. It may have left, or come back as another app, which is not watched; `/judge "
        "watch` changes that."
    )


def test_post(watch: Watch, name: str) -> Post:
    """What shows who gets the alerts of a watch."""
    return to_post(
        f"This is a test. Here I say when {_its(watch, name)} gets worse or better, since when, whose "
        "change it is and why, with two examples."
    )


def tested(watch: Watch, errors: Mapping[str, str]) -> str:
    """Whom a test has reached, and why not the others."""
    if not watch.alerts_to:
        return (
            "This watch sends no alerts, so there is nobody to send a test to. *Change* sets "
            "who gets alerts."
        )
    return "\n".join(
        f"{_whom(to)}: {_KNOWN.get(error) or f'Slack answers `{clip(error)}`'}."
        for to, error in errors.items()
    )


def _its(watch: Watch, name: str) -> str:
    if is_order(watch):
        return f"*{clip(name)}* in all public channels"
    return f"*{clip(name)}* in <#{watch.channel_id}>"


def _whom(to: str) -> str:
    return f"<#{to}>" if is_channel(to) else f"<@{to}>"


def settings_blocks(watches: Sequence[CountedWatch], more: int) -> list[ui.Block]:
    """The watches of a person's channels, in the window of their settings, and the number of
    further ones.
    """
    if not watches:
        return []
    blocks = [ui.header("Watched in your channels")]
    blocks += [ui.section(f"<#{each.watch.channel_id}>: {line(each)}") for each in watches]
    rest = f"And {more:,} more. " if more else ""
    return [
        *blocks,
        ui.context(f"{rest}`/judge watch` in a channel lists and changes its watches."),
    ]
