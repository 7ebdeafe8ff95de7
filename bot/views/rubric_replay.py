"""What a person is told before their channel's judge changes: how the two compare, with two buttons."""

from bot.slack import ids
from bot.slack.post import Post
from bot.views.elements import actions, button, section
from bot.weeks.replay import ReplayFigures

BEGUN = (
    "I judge labelled replies of this channel by {judge} first, {most} at most, and tell you how it compares with the "
    "judge in use; until then all stays."
)
NO_LABELS = "There is no labelled reply here, with its texts kept, to compare the two by."
NO_MODEL = "{judge} could not be compared: the model cannot be asked now. All stays as it is; try again later."
GONE = "{judge} could not be compared: it was deleted meanwhile. All stays as it is."
NOT_BOTH_HERE = "{judge} was compared, but we are no longer both in that channel. All stays as it is."
CLOSED = "That change is not open any more: it was decided, or somebody has asked for another since."
IN_USE = "Replies in this channel are scored by {judge}."
ASK = "In the channel, `/judge rubric` says what holds."
LEFT = "All stays as it is."
_NOTHING = (
    "Nothing compares {judge} with the judge in use: there is no labelled reply of this channel on the scale of both. "
    "You can use it all the same."
)
_UNSCORED = (
    "No labelled reply of this channel got a score by both {judge} and the judge in use ({n} were tried), so nothing "
    "compares the two. Does its prompt ask for a line `score: N`?"
)
_SEEN = "People who had seen a score before they gave theirs lean towards it."


def comparison(number: int, judge: str, figures: ReplayFigures | None, tried: int) -> Post:
    """How a judge compares with the one in use; `number` is the replay's, `judge` its name as mrkdwn.

    `tried` is how many cases there were; without figures none of them has a score by both.
    """
    nothing = (_UNSCORED if tried else _NOTHING).format(judge=judge, n=tried)
    text = _compared(judge, figures) if figures else nothing
    row = actions(button("Use it", ids.ACTION_RUBRIC_USE, number), button("Leave it", ids.ACTION_RUBRIC_LEAVE, number))
    return Post(text, [section(text), row])


def _compared(judge: str, figures: ReplayFigures) -> str:
    replies = "1 labelled reply" if figures.n == 1 else f"{figures.n} labelled replies"
    blind = "all" if figures.blind == figures.n else f"{figures.blind}"
    more = f" Both were asked about {figures.of_others} that other judges had scored." if figures.of_others else ""
    more += f" {figures.unscored} more got no score by one of the two." if figures.unscored else ""
    before, now, new = figures.off_before, figures.off_now, "with the new one"
    lines = [
        f"*{judge} against the judge in use*, on the same {replies} of this channel, {blind} labelled blind.{more}",
        f"• Points away from people's scores: {before:.1f} in use, {now:.1f} {new}: {_closer(figures)}",
        f"• The same score as people: {figures.same_before} in use, {figures.same_now} {new}",
        f"• Mean: {figures.mean_before:.1f} in use, {figures.mean_now:.1f} {new}, {figures.mean_people:.1f} by people",
    ]
    return "\n".join(lines if figures.blind == figures.n else [*lines, _SEEN])


def _closer(figures: ReplayFigures) -> str:
    value, low, high = figures.closer
    if low is None or high is None:
        return "too few to say more"
    between = f"95% between {low:+.1f} and {high:+.1f}"
    size = f"{abs(value):.1f}"
    how = "no closer" if float(size) == 0 else f"{size} {'closer' if value > 0 else 'farther away'}"
    return f"{how}, and that may be chance ({between})" if low <= 0 <= high else f"{how} ({between})"
