"""How the outcomes of questions are said."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from bot.domain.outcome import Outcomes, Sign
from bot.domain.questions import Question
from bot.features.outcome.shares import Contested, Shares
from bot.figures.quality import span
from bot.figures.week import FEWEST
from bot.slack import blocks as ui
from bot.slack.members import Member
from bot.slack.messenger import Post
from bot.slack.mrkdwn import clip
from judge.scoring.numbers import number_of

CONTRADICTED = {
    "Good scores, contested by the asker": True,
    "Low scores, confirmed by the asker": False,
}
"""The title of a list, and whether it is of good scores."""
ALL_MEANT = (
    "It answers at least four in five messages of this channel that do not mention it, so all of "
    "them count as questions."
)
_MOST_LISTED = 5
_MOST_ASSISTANTS = 5
_COMPARED = (Sign.UNANSWERED, Sign.COLLEAGUE, Sign.CONTESTED, Sign.CONFIRMED)


def outcome_line(outcomes: Outcomes) -> str:
    """What came of the questions of four weeks, of all and of those whose outcome is known; empty
    without a question.
    """
    if not outcomes.questions:
        return ""
    speed = ""
    if outcomes.median is not None:
        speed += f", half within {duration(outcomes.median)}"
    if outcomes.slowest_tenth is not None:
        speed += f", the slowest tenth after {duration(outcomes.slowest_tenth)}"
    numbers = {
        f"answered{speed}": outcomes.answered,
        Sign.UNANSWERED.words: outcomes.questions - outcomes.answered - outcomes.waiting,
        "not answered yet": outcomes.waiting,
    }
    of_all = _listed(numbers, "; ")
    sentences = [f"{number_of(outcomes.questions, 'question')} in four weeks: {of_all}."]
    # The first sentence has the unanswered of all questions.
    signs = {
        sign.words: outcomes.signs[sign] for sign in outcomes.signs if sign is not Sign.UNANSWERED
    }
    if listed := _listed(signs):
        sentences.append(f"Of {outcomes.known:,} with an outcome, {listed}.")
    unread = outcomes.questions - outcomes.known - outcomes.too_new
    if rest := _listed({"too new to say": outcomes.too_new, "not read": unread}):
        sentences.append(f"{rest}.")
    return " ".join(sentences)


def _listed(numbers: Mapping[str, int], separator: str = ", ") -> str:
    return separator.join(f"{number:,} {words}" for words, number in numbers.items() if number)


def contested_line(contested: Contested) -> str:
    """That the judge agrees less with the askers than before."""
    now = span(contested.now, ".0%", "*")
    before = span(contested.before, ".0%")
    return (
        f"Askers contested more of the replies with good scores: {now}; in the four weeks before "
        f"{before}. The judge may overlook what is wrong with them."
    )


def shares_block(name: str, shares: Shares) -> ui.Block:
    title = (
        f"*{clip(name)}*, of {number_of(shares.number, 'question')} of four weeks with an outcome, "
        "three days after they were asked:"
    )
    lines = [f"• {sign.words}: {span(share, '.0%')}" for sign, share in shares.signs.items()]
    return ui.section("\n".join([title, *lines]))


def release_lines(before: Shares, since: Shares) -> list[str]:
    """How the shares of signs have changed with a release; empty with too few questions, or only
    those of one thread.
    """
    if min(before.number, since.number) < FEWEST or not (before.signs and since.signs):
        return []
    lines = [
        f"• {sign.words}: {span(since.signs[sign], '.0%')}; before {span(before.signs[sign], '.0%')}"
        for sign in _COMPARED
    ]
    return ["Of the questions with an outcome, since then:", *lines]


def contradicted_line(good: int, low: int) -> str:
    """How many scores of four weeks the askers contradict."""
    parts = []
    if good:
        parts.append(f"{number_of(good, 'reply', 'replies')} with a good score contested")
    if low:
        parts.append(f"{number_of(low, 'reply', 'replies')} with a low score confirmed")
    return f"Askers see it otherwise than the judge: {', '.join(parts)}."


def contradicted_post(lists: Mapping[str, Sequence[ui.Block]]) -> Post:
    blocks = list[ui.Block]()
    for title, listed in lists.items():
        if listed:
            blocks += [ui.section(f"*{title}*"), *listed]
    none = ui.section("Askers contradict no score of the last four weeks here.")
    return Post("Scores that the askers contradict", blocks or [none])


def duration(wait: timedelta) -> str:
    seconds = wait.total_seconds()
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"


def waiting_blocks(
    waiting: Mapping[str, Sequence[Question]],
    members: Mapping[str, Member],
    now: datetime,
    workspace_url: str,
) -> list[ui.Block]:
    """The questions to each assistant that have no answer yet, the longest waiting first."""
    blocks = list[ui.Block]()
    for assistant_id, questions in list(waiting.items())[:_MOST_ASSISTANTS]:
        member = members.get(assistant_id)
        name = clip(member.name if member else assistant_id)
        number = number_of(len(questions), "question")
        lines = waiting_links(questions, now, workspace_url)
        blocks.append(ui.section("\n".join([f"*Not answered yet* by *{name}*: {number}", *lines])))
    return blocks


def waiting_links(questions: Sequence[Question], now: datetime, workspace_url: str) -> list[str]:
    listed = [
        f"• <{ui.permalink(workspace_url, question.channel_id, question.ts, question.thread_ts)}|"
        f"Question> in <#{question.channel_id}>, {duration(now - question.asked_at)} ago"
        for question in questions[:_MOST_LISTED]
    ]
    rest = len(questions) - _MOST_LISTED
    return [*listed, f"• and {rest:,} more"] if rest > 0 else listed


def unanswered_alert(
    name: str, waiting: Sequence[Question], asked: int, now: datetime, workspace_url: str
) -> Post:
    """The alert of questions that have waited for an hour or longer, of so many `asked` in a day."""
    first = f"*{clip(name)}* has not answered {len(waiting):,} of the day's {number_of(asked, 'question')}"
    lines = waiting_links(waiting, now, workspace_url)
    return Post(f"{first}.".replace("*", ""), [ui.section("\n".join([f"{first}.", *lines]))])
