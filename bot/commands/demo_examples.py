"""Verdicts written by hand for the demo's threads, so that one is to be seen before anything was judged.

They are messages in the pocket Slack and nothing else: no case, nothing in the log, no number, no button. So is the
note on what scores where there is no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.domain.case import CaseSource, CaseStatus, LoggedCase, QuestionSource, Visibility
from bot.domain.verdict import RecordedVerdict, from_verdict
from bot.views.verdict import example_message
from judge import Rating, Rubric, load_rubric
from judge.ratings import combine
from pocket_slack import Message, Person, Workspace

CHANNEL = "help-desk"
_MODEL = "your model"
_OFFLINE_NOTE = (
    ":warning: *No model is set up: the offline rater scores here, a word counter, not a judge.* It cannot tell what "
    "is true.\nTo try it, open a thread, then the menu (⋮) of a reply, and choose *Score this reply*."
)


@dataclass(frozen=True)
class Example:
    """What a model might say of the first reply in the thread whose first message begins so; one text a rating."""

    question_begins: str
    said: Sequence[tuple[int, str]]


EXAMPLES = (
    Example(
        "The VPN drops",
        (
            (
                4,
                "The response says what causes the drops, names the setting that stops them and where it is, and when "
                "the mended version comes. It does not say what to do where IKEv2 is blocked.",
            ),
            (4, "It gives a cause, a remedy and a date. One more sentence for networks without IKEv2 would help."),
            (5, "Cause, remedy and date in two sentences, and nothing that was not asked for."),
        ),
    ),
    Example(
        "May I pay for a team lunch",
        (
            (5, "It answers yes, gives the limit, and says which form to use and what to attach. Nothing is missing."),
            (3, "It answers the question, but leaves open who has to agree and whether guests count."),
            (
                2,
                "It names an amount without a source, and says nothing of who has to agree. Whoever relies on it may "
                "have to pay for the lunch themselves.",
            ),
        ),
    ),
    Example(
        "The invoice export fails",
        (
            (
                1,
                "The response stays near the topic, but does not say whether there is a limit, nor how to export more "
                "than a month. Its advice would fit any problem.",
            ),
            (1, "It speaks of invoices and answers nothing: neither the limit nor a way round the timeout."),
            (0, "General advice and friendliness. The question about a limit is not answered."),
        ),
    ),
)


def post_examples(workspace: Workspace) -> None:
    """Puts each example into its thread, as the app's message."""
    rubric = load_rubric("additive-5")
    app = Person(workspace, workspace.bot.id)
    channel = workspace.channel(CHANNEL)
    for example in EXAMPLES:
        question = next(each for each in channel.messages.values() if each.text.startswith(example.question_begins))
        post = example_message(_case(workspace, question), _verdict(example, rubric))
        app.post(CHANNEL, post.text, thread_ts=question.ts, blocks=post.blocks)


def post_offline_note(workspace: Workspace) -> None:
    """Says in the channel, as its newest message, that words are counted here."""
    Person(workspace, workspace.bot.id).post(CHANNEL, _OFFLINE_NOTE)


def _verdict(example: Example, rubric: Rubric) -> RecordedVerdict:
    ratings = [Rating(score=score, justification=words, raw="", model=_MODEL) for score, words in example.said]
    scale = rubric.scale.low, rubric.scale.high
    verdict = combine(ratings, model=_MODEL, rubric=rubric.name, rubric_version=rubric.version, scale=scale)
    return from_verdict(verdict, rubric, _MODEL)


def _case(workspace: Workspace, question: Message) -> LoggedCase:
    """What the message is about; it is in no log."""
    return LoggedCase(
        id=0,
        key="example",
        team_id=workspace.team_id,
        channel_id=question.channel_id,
        requester_id=question.author.id,
        requester_name=question.author.name,
        source=CaseSource.SHORTCUT,
        rubric="additive-5",
        visibility=Visibility.THREAD,
        status=CaseStatus.DELIVERED,
        question=question.text,
        question_source=QuestionSource.PARENT,
        created_at=datetime.fromtimestamp(workspace.clock.now(), UTC),
    )
