"""What is said of watches: what a channel has ordered, and what has become of the replies that were seen."""

from collections.abc import Sequence

from bot.domain.watch import Fate, Shows, Watch
from bot.slack import ids
from bot.slack.mrkdwn import clip, escape
from bot.slack.post import Post
from bot.views.elements import Block, actions, button, section
from bot.weeks.watches import CountedWatch

_NAME = 80
_MOST_NAMED = 10
_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "keycap_ten")
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
• `/judge watch @assistant all` scores all its replies to people here, by itself
• `/judge watch @assistant 1 in 5` scores a random fifth, `/judge watch @assistant 20 a day` at most 20 a day
• `nothing`, `reaction` or `verdict` at the end says what is shown of that; `nothing` is the default
• `alert here`, `alert me` or `alert off` says who hears when it gets clearly worse; at first, whoever sets the watch
• `/judge watch off @assistant` ends it; `/judge watch` says what is watched"""
_MAY_FOLLOW = (
    "What may follow a name, in this order: `all`, or `1 in 5` (from 1 to 9,999); `40 a day` (from 1 to 99,999); "
    "`nothing`, `reaction` or `verdict`; `alert here`, `alert me` or `alert off`. `off` alone ends the watch."
)
NO_REACTIONS = (
    "I may not react to messages here: whoever runs the app adds the scope `reactions:write` (`manifest.watch.yml` has "
    "it). Without, `nothing` and `verdict` work."
)
_FATES = {
    Fate.TAKEN: "scored or about to be",
    None: "waited for",
    Fate.NO_ANSWER: "drawn, but no answer to anybody",
    Fate.OVER: "over a limit",
    Fate.MISSED: "missed or unscored",
}


def score_emoji(score: int) -> str:
    """The name of the emoji that stands for a score; beyond 10, which no emoji shows, the one for numbers."""
    return _DIGITS[score] if 0 <= score < len(_DIGITS) else "1234"


def _share(watch: Watch) -> str:
    one_in = round(1 / watch.share)
    share = "all" if one_in == 1 else f"a random 1 in {one_in}"
    limit = f", at most {watch.per_day} a day" if watch.per_day else ""
    return f"{share} of its replies to people{limit}"


def state(counted: Sequence[CountedWatch], tokens: int | None) -> Post:
    """What is watched in a channel, what has become of the last week's replies, and the tokens that a day has."""
    if not counted:
        text = f"Nothing is watched in this channel.\n{_HELP}"
        return Post(text, [section(text), actions(button(_TITLE, ids.ACTION_WATCH))])
    lines = {each.watch: line(each) for each in counted[:_MOST_SHOWN]}
    rest = [each.name for each in counted[_MOST_SHOWN:]]
    ends = [f"And {len(rest)} more, {_names(rest)}: `/judge watch @name` opens the window of each."] if rest else []
    ends += [_budget(tokens)] if tokens else []
    blocks = [block for watch, said in lines.items() for block in (section(said), _buttons(watch))]
    another = actions(button("Watch another assistant", ids.ACTION_WATCH))
    return Post("\n".join([*lines.values(), *ends]), [*blocks, *map(section, ends), another])


def begun(watch: Watch, name: str) -> Post:
    """A watch was set, or set otherwise."""
    text = f"*{clip(name, _NAME)}* is watched here: {_order(watch)}"
    return Post(text, [section(text), _buttons(watch)])


def line(counted: CountedWatch) -> str:
    """A watch, and what has become of the last week's replies."""
    coverage = counted.coverage
    parts = [f"{coverage.fates[fate]} {said}" for fate, said in _FATES.items() if coverage.fates.get(fate)]
    week = f"In the last 7 days: {coverage.seen} seen" + "".join(f", {part}" for part in parts)
    return f"*{clip(counted.name, _NAME)}*: {_order(counted.watch)} {week}."


def ended(name: str) -> str:
    """A watch was ended."""
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
    """For a name that several bots have."""
    each = ", ".join(f"`@{author_id}`" for author_id in author_ids[:_MOST_NAMED])
    return f"Several bots here are called `@{clip(name, _NAME)}`. Say which by its id: {each}."


def not_watched(name: str, watched: Sequence[str]) -> str:
    """For the end of a watch that there is not."""
    found = f"I watch {_names(watched)}." if watched else "I watch nobody here."
    return f"I do not watch `@{clip(name, _NAME)}` in this channel. {found}"


def not_read(error: str) -> str:
    """For when Slack does not let us look who wrote in a channel."""
    return f"Slack does not let me read this channel (`{clip(error, _NAME)}`), so I cannot watch anybody in it."


def not_understood(reason: str) -> str:
    """What `/judge watch` can do, for a person who typed something else; `reason` quotes it."""
    return f"{escape(reason)}. This is what I understand:\n{_HELP}"


def _buttons(watch: Watch) -> Block:
    test = [button("Send a test", ids.ACTION_TEST_ALERT, watch.author_id)] if watch.alerts_to else []
    return actions(button("Change", ids.ACTION_WATCH, watch.author_id), *test)


def _budget(tokens: int) -> str:
    return f"All that is watched here may take at most {tokens:,} {'token' if tokens == 1 else 'tokens'} a day (UTC)."


def _order(watch: Watch) -> str:
    told = [f"<#{each}>" if each == watch.channel_id else f"<@{each}>" for each in watch.alerts_to]
    hear = "hears" if len(told) == 1 else "hear"
    below = "" if watch.floor is None else f", or its mean is below {watch.floor:g}"
    when = f"When it gets clearly worse{below}"
    hears = f"{when}, {_listed(told)} {hear} of it." if told else "Nobody hears when it gets worse."
    return f"{_share(watch)}. {_SHOWN[watch.shows]} {hears}"


def _listed(each: Sequence[str]) -> str:
    *most, last = each
    return f"{', '.join(most)} and {last}" if most else last


def _names(names: Sequence[str]) -> str:
    more = ["…"] if len(names) > _MOST_NAMED else []
    return ", ".join([*(f"`@{clip(each, _NAME)}`" for each in names[:_MOST_NAMED]), *more])
