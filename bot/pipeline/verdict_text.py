"""The verdict's message, in the thread or to the requester alone, and its short form once another
replaces it.
"""

from typing import Any

from bot.domain.blocker import MAY_NOT_READ
from bot.domain.case import CaseSource, Exclusion, LoggedCase, QuestionSource
from bot.domain.verdict import CaseVerdict, reference_of
from bot.slack import ids
from bot.slack.blocks import actions, button, context, permalink, plain, quote, run, section
from bot.slack.messenger import Post
from bot.slack.mrkdwn import clip, escape, excerpt
from judge import Rating
from judge.evaluation.stats import good_from, low_to
from judge.scoring.answers import shorten
from judge.scoring.numbers import number_of
from judge.scoring.ratings import Result
from judge.scoring.rubric import Scale
from judge.scoring.sanitize import one_line

_OPERATOR = "the app's log says why"

_BY_REASON = {
    "SetupError": f"The judge is not set up; {_OPERATOR}.",
    "KeyRejectedError": f"The model's server rejects the app's key; {_OPERATOR}.",
    "ModelNotFoundError": f"The model's server does not know the model; {_OPERATOR}.",
    "RequestRejectedError": f"The model's server refused the request; {_OPERATOR}.",
    "RateLimitedError": "The model's server is busy. Try again in a few minutes.",
    "QuotaExceededError": f"The account with the model's server has no credit left; {_OPERATOR}.",
    "UnavailableError": "The model's server cannot be reached. Try again in a few minutes.",
    "DeadlineError": "The model took too long to answer. Try again in a few minutes.",
    "BadResponseError": f"The model's server sent an unreadable answer; {_OPERATOR}.",
    "call_failed": "The model's server cannot be reached. Try again in a few minutes.",
    "fault": f"Something went wrong in the app; {_OPERATOR}.",
    "split": "The ratings are too far apart to give one score.",
    "refused": "The model declined to judge this.",
    "filtered": "The model server's content filter blocked this.",
    "no_reference": (
        "Its rubric compares with a reference, and this channel has none: `/judge reference`."
    ),
}

_IN_SHORT = {
    "refused": "declined by the model",
    "filtered": "blocked by a content filter",
    "split": "ratings too far apart",
    "nothing_to_judge": "nothing to judge",
    "too_long": "too long to judge",
    "blocker": "nothing to judge",
    "call_failed": "model not reachable",
    "fault": "an error in the app",
    "no_reference": "no reference to compare with",
}


def in_short(reason: str) -> str:
    if reason.endswith("Error"):
        return _IN_SHORT["call_failed"]
    return _IN_SHORT.get(reason, "no reliable score in the model's answer")


def cause_of(reason: str) -> str:
    """The sentence on why replies have no score, for those who did not ask for it."""
    unknown = f"The model may not be answering; {_OPERATOR}."
    return _BY_REASON.get(reason, unknown).removesuffix(" Try again in a few minutes.")


def why_unscored(verdict: CaseVerdict) -> str:
    """The sentence for a verdict without a score; never a guess, and never the model's own words."""
    reason = verdict.unscored_reason or ""
    if verdict.unscored and reason in {"blocker", "nothing_to_judge", "too_long"}:
        return verdict.unscored.detail
    return _BY_REASON.get(reason, "The model gave no score I can rely on, and I do not guess.")


_EDITED = "*Scored before an edit:* what was judged has changed since."
_DELETED = "A message that was judged was deleted, so I removed what I had quoted."
_FORGOTTEN = "I removed what I had quoted, because its author asked me to forget it."


def amended(verdict: Post, case: LoggedCase) -> Post:
    """A verdict, with a line above the buttons if texts were edited, deleted or forgotten;
    idempotent.
    """
    if not (case.loses_words or case.edited_at):
        return verdict
    words = _EDITED
    if case.loses_words:
        words = _DELETED if case.deleted_at else _FORGOTTEN
        verdict = verdict.without({case.id})
    line = context(words) | {"block_id": ids.BLOCK_AMENDMENT}
    kept = [block for block in verdict.blocks if block.get("block_id") != ids.BLOCK_AMENDMENT]
    at = next(
        (number for number, block in enumerate(kept) if block["type"] == "actions"), len(kept)
    )
    return Post(verdict.text, [*kept[:at], line, *kept[at:]])


UNCONFIRMED = "unconfirmed"
VERDICT_BEGINS = ("Score ", "Unscored")
_ROOM = 3000
_EXCERPT = 300
_STEPS = 5

_QUESTION_FROM = {
    QuestionSource.PARENT: "the first message of this thread",
    QuestionSource.EARLIER: "an earlier message",
    QuestionSource.FORM: "a form's post",
    QuestionSource.CHOSEN: "as chosen",
    QuestionSource.TYPED: "as typed",
}

_EXCLUDED = {
    Exclusion.PERSON: "*Not counted:* a person wrote the reply.",
    Exclusion.ANOTHER: "*Not counted:* somebody else asked for the first score of this reply.",
    Exclusion.EDITED: "*Not counted:* the question was edited after the reply was written.",
    Exclusion.CONTINUED: "*Not counted:* the reply went on, and was scored again.",
}


def verdict_message(
    case: LoggedCase, verdict: CaseVerdict, note: str = "", *, has_been_seen: bool = False
) -> Post:
    """The verdict as posted in the thread or sent to the requester alone; `note` says why only they
    see it.
    """
    first, summary = _first(case, verdict)
    blocks = [first]
    # Where there is nothing to judge, there is nothing to count.
    excluded = _EXCLUDED[case.excluded] if case.excluded and case.blocker is None else ""
    tries = " and ".join(flag.words for flag in verdict.flags)
    warning = f":warning: *Check this one yourself:* the question or the response {tries}."
    blocks += [context(line) for line in (warning if tries else "", excluded) if line]
    blocks += _question(case)
    blocks += [context(line) for line in (_provenance(case, verdict), note) if line]
    buttons = [*_opinions(case, verdict), *_buttons(case, verdict, has_been_seen=has_been_seen)]
    return amended(Post(summary, [*blocks, actions(*buttons)] if buttons else blocks), case)


def replaced(case: LoggedCase, verdict: CaseVerdict, by: LoggedCase, workspace_url: str) -> Post:
    why = "" if by.question_hash == case.question_hash else ", question changed"
    text = f"{_in_words(verdict)} · replaced by {_link(by, workspace_url, 'a newer verdict')}{why}"
    return Post(text, [context(text) | {"block_id": ids.BLOCK_REPLACED}])


def is_replaced(post: Post) -> bool:
    return any(block.get("block_id") == ids.BLOCK_REPLACED for block in post.blocks)


def known_verdict(case: LoggedCase, verdict: CaseVerdict, workspace_url: str) -> Post:
    """The answer to a person who asks again: a link to the verdict, or the verdict itself if only
    they may see it.
    """
    if case.is_private or case.blocked_by:
        note = "" if verdict.score is None else "This reply was scored before."
        return verdict_message(case, verdict, note, has_been_seen=True)
    row = _buttons(case, verdict, has_been_seen=True)
    found = "Unscored"
    if verdict.score is not None:
        before = "before an edit" if case.edited_at else "before"
        found = f"Scored {before}: *{verdict.score} of {verdict.highest}*"
    line = f"{found} · {_link(case, workspace_url, 'verdict')}"
    return Post(line, [section(line), actions(*row)] if row else [section(line)])


def headline(verdict: CaseVerdict) -> str:
    """The first line: the score, the range of the ratings if they are split, and the gauge."""
    return f"*{_in_words(verdict)}*{_beside(verdict)}"


def _beside(verdict: CaseVerdict) -> str:
    split = ", ratings from {} to {}".format(*verdict.span) if verdict.is_split else ""
    return split if verdict.score is None else f"{split}{_offline(verdict)}  {gauge(verdict)}"


def gauge(verdict: CaseVerdict) -> str:
    """Five circles, filled up to the score."""
    above = (verdict.score or 0) - verdict.lowest
    filled = round(above / (verdict.highest - verdict.lowest) * _STEPS)
    return "●" * filled + "○" * (_STEPS - filled)


def why_private(case: LoggedCase) -> str:
    """Why only the requester sees a verdict that was meant for the thread, and what helps."""
    if case.blocked_by is None:
        return ""
    if case.blocked_by == UNCONFIRMED:
        return (
            "Only you see this, because Slack did not confirm my reply in the thread, and I do "
            "not want to post it twice."
        )
    # The channel is named because this may be read elsewhere; direct messages have no name.
    where = "this conversation" if case.channel_id.startswith("D") else f"<#{case.channel_id}>"
    if case.blocked_by in {"not_in_channel", "channel_not_found"}:
        return f"Only you see this, because I am not in {where}. Type `/invite @Slack Judge` there."
    return (
        f"Only you see this, because Slack did not let me reply in {where} "
        f"(`{escape(case.blocked_by)}`)."
    )


def ratings_line(verdict: CaseVerdict) -> str:
    """The score of each rating; empty if they are all alike."""
    ratings = verdict.ratings
    if len({each.score if isinstance(each, Rating) else None for each in ratings}) < 2:
        return ""
    scores = [str(each.score) if isinstance(each, Rating) else "unscored" for each in ratings]
    return f"{len(scores)} ratings: {', '.join(scores)}"


def rated_quote(rating: Result, verdict: CaseVerdict) -> dict[str, Any]:
    if isinstance(rating, Rating):
        title = f"Rated {rating.score} of {verdict.highest}"
        words = rating.justification
    else:
        title = "No score"
        words = rating.detail
    is_another = rating.served not in {None, rating.model}
    title += f", answered as {rating.served}" if is_another else ""
    return quote(shorten(words, 100), _ROOM, run(title, is_bold=True))


def _first(case: LoggedCase, verdict: CaseVerdict) -> tuple[dict[str, Any], str]:
    """The score and its reason in one line, and the verdict as a line of plain text for
    notifications.

    The reason is that of a rating that gave the score. All that the model wrote is in italics and
    on one line, so that it cannot pass for ours.
    """
    if verdict.score is None:
        sentence = clip(why_unscored(verdict), _ROOM)
        return section(f"{headline(verdict)}. {sentence}"), f"Unscored: {sentence}"
    words = one_line(verdict.justification)
    reason: dict[str, Any] = run(words[:_ROOM]) | {"style": {"italic": True}}
    said = excerpt(words, _EXCERPT) or "…"
    if not words:
        said = "There is no justification."
        if case.has_lost_texts:
            said = f"The justification was {case.why_lost}."
        reason = run(said)
    title = run(_in_words(verdict), is_bold=True)
    line = [*_colour(verdict, verdict.score), title, run(f"{_beside(verdict)}  "), reason]
    block = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": line}]}
    summary = f"{_in_words(verdict)}{_offline(verdict)}: {said}"
    return block | {"block_id": f"{ids.BLOCK_WORDS}{case.id}"}, summary


def _colour(verdict: CaseVerdict, score: int) -> list[dict[str, Any]]:
    """A circle in front of a low or a good score."""
    scale = Scale(verdict.lowest, verdict.highest)
    if low_to(scale) < score < good_from(scale):
        return []
    colour = "red" if score <= low_to(scale) else "large_green"
    return [{"type": "emoji", "name": f"{colour}_circle"}, run(" ")]


def _in_words(verdict: CaseVerdict) -> str:
    return "Unscored" if verdict.score is None else f"Score {verdict.score} of {verdict.highest}"


def _link(case: LoggedCase, workspace_url: str, what: str) -> str:
    """A link to the case's verdict in its thread; without one, the number of the case."""
    if not case.reply_ts:
        return f"case {case.id}"
    return f"<{permalink(workspace_url, case.channel_id, case.reply_ts, case.thread_ts)}|{what}>"


def _question(case: LoggedCase) -> list[dict[str, Any]]:
    """The question that was judged, and where it came from; empty if it is the message right above
    the reply.
    """
    if case.question_source in {None, QuestionSource.PREVIOUS}:
        return []
    source = _QUESTION_FROM[case.question_source]
    if case.messages_before:
        source += f", and {number_of(case.messages_before, 'message')} before it"
    if case.question:
        title = run("Question", is_bold=True), run(f" ({source}):")
        # A question typed for this verdict is shown in full: it is nowhere else, and readers should
        # see what was asked.
        is_new = case.question_source is QuestionSource.TYPED and (
            case.message_ts or case.source is CaseSource.BUTTON
        )
        words = case.question if is_new else one_line(case.question)
        block = quote(words, _ROOM if is_new else _EXCERPT, *title)
        return [block | {"block_id": f"{ids.BLOCK_WORDS}{case.id}-question"}]
    return [context(f"*Question*: {source}")]


def _provenance(case: LoggedCase, verdict: CaseVerdict) -> str:
    # The headline says that it is the offline rater's.
    model = "" if verdict.is_offline and verdict.score is not None else escape(verdict.model)
    reply = number_of(case.messages, "message") if case.messages > 1 else ""
    unread = f"{case.unread} not read" if case.unread else ""
    version = reference_of(verdict.judge_version)
    checked = "" if verdict.score is None or verdict.is_offline else "not checked against documents"
    if version:
        checked = f"checked against reference {version}"
    # Whoever looks up in the log why there is no score needs the number.
    number = f"case {case.id}" if verdict.score is None else ""
    parts = model, ratings_line(verdict), checked, reply, unread, number
    return " · ".join(part for part in parts if part)


def _offline(verdict: CaseVerdict) -> str:
    return (
        " (offline rater, not a judge)" if verdict.is_offline and verdict.score is not None else ""
    )


def _buttons(
    case: LoggedCase, verdict: CaseVerdict, *, has_been_seen: bool
) -> list[dict[str, Any]]:
    """The buttons that can have an effect: without texts there is nothing to score again or to
    correct.
    """
    is_unscored = verdict.score is None
    # In a thread whose only message before the reply is its question, there is no other, and a
    # question that was typed together with its reply is the right one.
    is_right_above = case.question_source is QuestionSource.PREVIOUS and case.parent_ts
    has_other_questions = case.message_ts and (case.messages_before or not is_right_above)
    offered = [
        ("Score again", ids.ACTION_AGAIN, has_been_seen and not is_unscored),
        ("Try again", ids.ACTION_AGAIN, is_unscored),
        ("Give your own score", ids.ACTION_LABEL, is_unscored),
        ("Details", ids.ACTION_DETAILS, verdict.ratings),
        ("Wrong question?", ids.ACTION_WRONG_QUESTION, has_other_questions),
    ]
    if case.blocker is not None:
        offered = [("Try again", ids.ACTION_AGAIN, case.blocker == MAY_NOT_READ)]
    return [button(label, action_id, case.id) for label, action_id, is_shown in offered if is_shown]


def _opinions(case: LoggedCase, verdict: CaseVerdict) -> list[dict[str, Any]]:
    if verdict.score is None:
        return []
    offered = (
        (":thumbsup: Agree", ids.ACTION_AGREE, "Agree: I would give the same score"),
        (":thumbsdown: Disagree", ids.ACTION_DISAGREE, "Disagree: I would give another score"),
    )
    return [
        button(label, action_id, case.id)
        | {"text": plain(label) | {"emoji": True}, "accessibility_label": spoken}
        for label, action_id, spoken in offered
    ]


_DIGITS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "keycap_ten",
)


def score_emoji(score: int) -> str:
    """The name of the emoji for a score; above 10, for which there is no emoji, the one for
    numbers.
    """
    return _DIGITS[score] if 0 <= score < len(_DIGITS) else "1234"
