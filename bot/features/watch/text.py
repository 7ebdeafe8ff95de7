"""What is said of watches: what a channel has ordered, and what has become of the replies that were seen."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta

from bot.domain.watch import Coverage, ReplyOutcome, Shows, Unread, Watch
from bot.features.watch.figures import CountedWatch, Watched
from bot.figures.quality import corrected, span, without_model
from bot.figures.week import FEWEST
from bot.slack import ids
from bot.slack.blocks import Block, actions, button, context, header, permalink, section, short_date
from bot.slack.members import Member
from bot.slack.messenger import Post
from bot.slack.mrkdwn import clip, escape
from bot.store.figures import TimedScore
from judge.drift import MIN_REFERENCE, Drop
from judge.rubric import Scale

_NAME = 80
_MOST_NAMED = 10
_SHOWN = {
    Shows.NOTHING: "Nothing is posted; the digest and `/judge stats` count them.",
    Shows.REACTION: "Each scored one gets its score as a reaction.",
    Shows.VERDICT: "Each verdict is posted in its thread.",
}
NO_BOTS = "I find no bot that has written in this channel lately, or is in it, so there is nobody to watch."
_TITLE = "Watch an assistant"
_MOST_SHOWN = 10
_HELP = """\
• `/judge watch @assistant` opens a window for all of this
• `/judge watch @assistant all` scores all its replies to people here, by itself, at most 50 a day
• `/judge watch @assistant 1 in 5` scores a random fifth, `/judge watch @assistant 20 a day` at most 20 a day
• `nothing`, `reaction` or `verdict` at the end says what is shown of that; `nothing` is the default
• `alert here`, `alert me` or `alert off` says who hears when it gets clearly worse; at first, whoever sets the watch
• `/judge watch off @assistant` ends it; `/judge watch` says what is watched"""
_MAY_FOLLOW = (
    "What may follow a name, in this order: `all`, or `1 in 5` (from 1 to 9,999); `40 a day` (from 1 to 99,999); "
    "`nothing`, `reaction` or `verdict`; `alert here`, `alert me` or `alert off`. `off` alone ends the watch."
)
NO_REACTIONS = (
    "I may not react to messages here: whoever runs the app adds the scope `reactions:write` (`manifest.yml` has it). "
    "Without, `nothing` and `verdict` work."
)
_OUTCOMES = {
    ReplyOutcome.TAKEN: "scored or about to be",
    None: "waited for",
    ReplyOutcome.NO_ANSWER: "drawn, but no answer to anybody",
    ReplyOutcome.EDITED: "drawn, but the question was edited after them",
    ReplyOutcome.DELETED: "deleted before they were scored",
    ReplyOutcome.OVER: "over a limit",
    ReplyOutcome.MISSED: "missed or unscored",
}
_LOST = (ReplyOutcome.OVER, ReplyOutcome.MISSED)


def state(counted: Sequence[CountedWatch], tokens: int | None) -> Post:
    if not counted:
        text = f"Nothing is watched in this channel.\n{_HELP}"
        return Post(text, [section(text), actions(button(_TITLE, ids.ACTION_WATCH))])
    lines = {each.watch: line(each) for each in counted[:_MOST_SHOWN]}
    rest = [each.name for each in counted[_MOST_SHOWN:]]
    ends = [f"And {len(rest)} more, {_names(rest)}: `/judge watch @name` opens the window of each."] if rest else []
    if tokens:
        most = f"{tokens:,} {'token' if tokens == 1 else 'tokens'}"
        ends.append(f"All that is watched here may take at most {most} a day (UTC).")
    blocks = [block for watch, said in lines.items() for block in (section(said), _buttons(watch))]
    another = actions(button("Watch another assistant", ids.ACTION_WATCH))
    return Post("\n".join([*lines.values(), *ends]), [*blocks, *map(section, ends), another])


def begun(watch: Watch, name: str) -> Post:
    text = f"*{clip(name, _NAME)}* is watched here: {_order(watch)}"
    return Post(text, [section(text), _buttons(watch)])


def line(counted: CountedWatch) -> str:
    parts = ", ".join([f"{counted.coverage.seen} seen", *_outcomes(counted.coverage, _OUTCOMES)])
    unread = f" {not_read_since(counted.unread)}" if counted.unread else ""
    return f"*{clip(counted.name, _NAME)}*: {_order(counted.watch)} In the last 7 days: {parts}.{unread}"


def not_read_since(unread: Unread) -> str:
    return (
        f"*I cannot read the channel since {short_date(unread.since)}*: Slack says `{clip(unread.reason, _NAME)}`. "
        "Once I can, replies of up to a day ago are scored, and older ones count as missed."
    )


def _outcomes(coverage: Coverage, among: Iterable[ReplyOutcome | None]) -> list[str]:
    return [f"{coverage.outcomes[each]} {_OUTCOMES[each]}" for each in among if coverage.outcomes.get(each)]


def ended(name: str) -> str:
    return f"*{clip(name, _NAME)}* is not watched here any more. What was scored stays in the figures."


def no_assistant(name: str, known: Sequence[str]) -> str:
    """For a name that no bot of the channel has; what follows the name of one that is there is no part of it."""
    called = [each for each in known if name.lower().startswith(f"{each.lower()} ")]
    if called:
        meant = max(called, key=len)
        rest = clip(name[len(meant) :].strip(), _NAME)
        return f"After `@{clip(meant, _NAME)}` I do not understand `{rest}`. {_MAY_FOLLOW}"
    found = f"I find {_names(known)}." if known else "I find no bot at all."
    more = f" {_MAY_FOLLOW}" if " " in name else ""
    return f"I find no bot `@{clip(name, _NAME)}` in this channel. {found}{more}"


def several_assistants(name: str, author_ids: Sequence[str]) -> str:
    each = ", ".join(f"`@{author_id}`" for author_id in author_ids[:_MOST_NAMED])
    return f"Several bots here are called `@{clip(name, _NAME)}`. Say which by its id: {each}."


def not_watched(name: str, watched: Sequence[str]) -> str:
    found = f"I watch {_names(watched)}." if watched else "I watch nobody here."
    return f"I do not watch `@{clip(name, _NAME)}` in this channel. {found}"


def not_read(error: str) -> str:
    return f"Slack does not let me read this channel (`{clip(error, _NAME)}`), so I cannot watch anybody in it."


def not_understood(reason: str) -> str:
    """What `/judge watch` can do, for a person who typed something else; `reason` quotes it."""
    return f"{escape(reason)}. This is what I understand:\n{_HELP}"


def _buttons(watch: Watch) -> Block:
    test = [button("Send a test", ids.ACTION_TEST_ALERT, watch.author_id)] if watch.alerts_to else []
    return actions(button("Change", ids.ACTION_WATCH, watch.author_id), *test)


def _order(watch: Watch) -> str:
    one_in = round(1 / watch.share)
    share = "all" if one_in == 1 else f"a random 1 in {one_in}"
    limit = f", at most {watch.per_day} a day" if watch.per_day else ""
    hears = "Nobody hears when it gets worse."
    if watch.alerts_to:
        *most, last = [_whom(watch, each) for each in watch.alerts_to]
        below = "" if watch.floor is None else f", or its mean is below {watch.floor:g}"
        told = f"{', '.join(most)} and {last} hear" if most else f"{last} hears"
        hears = f"When it gets clearly worse{below}, {told} of it."
    return f"{share} of its replies to people{limit}. {_SHOWN[watch.shows]} {hears}"


def _names(names: Sequence[str]) -> str:
    more = ["…"] if len(names) > _MOST_NAMED else []
    return ", ".join([*(f"`@{clip(each, _NAME)}`" for each in names[:_MOST_NAMED]), *more])


def watched_lines(watched: Sequence[Watched], members: Mapping[str, Member]) -> list[str]:
    """The lines that a digest leads with; none where nothing was drawn, or nobody who may be named."""
    shown = [each for each in watched if each.author_id in members][:_MOST_SHOWN]
    return [line for each in shown for line in _lines(each, clip(members[each.author_id].name, _NAME))]


def _lines(each: Watched, name: str) -> Iterator[str]:
    drawn, scored = f"*{name}*, random replies", each.week.mean.n if each.week else 0
    counted = f"{scored:,} scored of {each.coverage.seen + each.earlier:,}"
    if each.week is None:
        yield f"{drawn}: none has a score ({counted})."
        return
    before = f"; last week {each.before.mean.judge.mean:.1f}" if each.before and each.before.mean.n >= FEWEST else ""
    scale = f"of {each.scale[0]} to {each.scale[1]}"
    mean = each.week.mean.judge
    shown = f"*{mean.mean:.1f}*" if mean.low is None else span(mean, ".1f", "*")
    measured = f"mean {shown}, {scale}" if scored >= FEWEST else f"no mean of fewer than {FEWEST} scores"
    yield f"{drawn}: {measured} ({counted}{before})."
    yield from without_model(each.raters)
    if people := corrected(each.weeks):
        yield people
    if each.others:
        yield f"Scored by another judge or on another scale, and not counted above: {each.others:,}."
    if each.coverage.deleted:
        doubt = "" if each.coverage.is_trusted else " *More than one in ten, so do not trust this mean.*"
        yield f"Deleted though drawn, before they were scored: {each.coverage.deleted}.{doubt}"
    if each.coverage.lost:
        lost = ", ".join(_outcomes(each.coverage, _LOST))
        yield f"Not scored though drawn: {lost}. The others of the same day stand for them."


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
    before, after = drop.before, drop.after
    if drop.kind == "floor":
        what = f"is clearly below {watch.floor:g}, which this channel wishes for: mean {after.mean:.1f}"
    else:
        what = f"mean {after.mean:.1f} after {before.mean:.1f}"
        if drop.kind == "low share":
            low = (scale.low + scale.high - 1) // 2
            share = f"{after.low_share:.0%} of its replies have {scale.low} to {low}"
            what = f"{share} after {before.low_share:.0%}, {what}"
        what = f"has become clearly worse than in the four weeks before: {what}"
    replies = "reply" if len(since) == 1 else "replies"
    lines = ["*Lowest since then*"]
    for each in lowest:
        link = permalink(workspace_url, watch.channel_id, each.message_ts or "", each.thread_ts)
        score = f"<{link}|Score {each.score} of {scale.high}>"
        lines.append(f"• {score} · {short_date(each.judged_at)} · case {each.id}")
    return _post(
        f"*{clip(name, _NAME)}* in <#{watch.channel_id}> {what}, "
        f"since {short_date(since[0].judged_at)} ({len(since)} random {replies}).",
        section("\n".join(lines)),
        context(f"{_HOW} {_ONCE}"),
    )


def silent_alert(watch: Watch, name: str, expected: int, silent_for: timedelta) -> Post:
    hours = round(silent_for.total_seconds() / 3600)
    text = (
        f"The watch on *{clip(name, _NAME)}* in <#{watch.channel_id}> has no score of the last {hours} hours, though "
        f"{expected} replies were drawn. Whoever runs the app finds the reason in its log: the judge may not answer."
    )
    return _post(text)


def new_judge_notice(watch: Watch, name: str, version: str | None) -> Post:
    by = f"`{clip(version, _NAME)}`" if version else "another judge"
    floor = "" if watch.floor is None else f" Whether its mean is below {watch.floor:g} I go on watching."
    return _post(
        f"*{clip(name, _NAME)}* in <#{watch.channel_id}> is scored by {by} now. Scores of two judges are not compared, "
        f"so I can say again whether it gets worse once there are {MIN_REFERENCE} older than a week.{floor}"
    )


def unread_alert(watch: Watch, name: str, unread: Unread) -> Post:
    return _post(
        f"The watch on *{clip(name, _NAME)}* in <#{watch.channel_id}> finds no new replies. {not_read_since(unread)}"
    )


def gone_alert(watch: Watch, name: str, before: int) -> Post:
    return _post(
        f"I have seen no reply of *{clip(name, _NAME)}* in <#{watch.channel_id}> for a week, after {before:,} in the "
        "week before. It may have left, or have come back as another app, which is not watched: `/judge watch` "
        "changes that."
    )


def test_alert(watch: Watch, name: str) -> Post:
    return _post(
        f"A test, and no more: here I say when *{clip(name, _NAME)}* in <#{watch.channel_id}> gets clearly worse."
    )


def tested(watch: Watch, missed: Mapping[str, str]) -> str:
    if not watch.alerts_to:
        return "Nobody hears when it gets worse, so there is nobody to send a test to; *Change* sets who does."
    got = ", ".join(_whom(watch, each) for each in watch.alerts_to if each not in missed)
    lines = [f"The test went to {got}."] if got else []
    for each, error in missed.items():
        why = _KNOWN.get(error) or f"Slack says `{clip(error, _NAME)}`"
        lines.append(f"It did not reach {_whom(watch, each)}: {why}.")
    return "\n".join(lines)


def _whom(watch: Watch, to: str) -> str:
    return f"<#{to}>" if to == watch.channel_id else f"<@{to}>"


def _post(text: str, *more: dict[str, object]) -> Post:
    return Post(text.replace("*", ""), [section(text), *more])


def home_blocks(watches: Sequence[CountedWatch], more: int) -> list[Block]:
    """The section of the Home tab: what a person's channels watch, and how many more watches there are."""
    if not watches:
        return []
    blocks = [header("What your channels watch")]
    for each in watches:
        channel_id = each.watch.channel_id
        change = button("Change", ids.ACTION_HOME_WATCH, f"{channel_id}:{each.watch.author_id}")
        blocks.append(section(f"<#{channel_id}>: {line(each)}") | {"accessory": change})
    return [*blocks, context(f"And {more:,} more: type `/judge watch` there.")] if more else blocks
