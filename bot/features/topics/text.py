"""How topics are said, and what to write about them."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bot.domain.outcome import Sign
from bot.features.topics import ids
from bot.features.topics.change import Moved
from bot.features.topics.counts import Report, TopicCount
from bot.features.topics.writing import LOW, WORDS, Alike, Asked, Gap
from bot.slack import blocks as ui
from bot.slack.messenger import Post, drawn_from
from bot.slack.mrkdwn import clip, excerpt
from judge.evaluation.naming import OTHER
from judge.evaluation.stats import MeanEstimate
from judge.evaluation.topics import FEWEST_QUESTIONS
from judge.scoring.numbers import number_of

WRITE_TITLE = "What to write"
WORD = "topics"
HELP = "• `/judge topics @assistant` shows what people ask it, and what to write about that"
NO_TEXTS = "Topics need the words of questions, and this app stores none (`STORE_TEXT=none`)."
NO_MODEL = "Topics are named by a model, and the offline rater scores here."
NOT_YET = "Questions are sorted once a day, from five in the morning on."
NONE_OFTEN = "No topic has ten questions in four weeks yet."
NOTHING_BAD = (
    "Of the questions of four weeks, none was left unanswered, scored low, contested or joined by a "
    "colleague."
)
_MOST_GAPS = 10
_MOST_GROUPS = 3
_MOST_LINKS = 2
_COUNTED_ARE = "Of four weeks' questions, those that were scored or not answered:"
_NAME = 60
_WORDS = 140
_TIMES = ("never", "once", "twice")
_COUNTED = Sign.COLLEAGUE, Sign.CONTESTED


def too_few(number: int) -> str:
    said = number_of(number, "question")
    return (
        f"Topics are named once a week has {FEWEST_QUESTIONS} questions whose replies were scored; "
        f"the last seven days have {said}."
    )


def only_in_line(topic: str, moved: Moved, others: Moved | None) -> str:
    """That a change lies in one topic."""
    now = f"{moved.now.judge.mean:.1f}, was {moved.before.judge.mean:.1f}"
    rest = ""
    if others:
        rest = f"; all others {others.now.judge.mean:.1f}, was {others.before.judge.mean:.1f}"
    return f"Only in *{clip(topic, _NAME)}*: {now}{rest}."


def week_block(subject_value: str, name: str, report: Report, changed: str) -> ui.Block | None:
    """The line of a digest on an assistant's topics: the one that its change lies in, or that
    clearly scores lowest, or the most frequent one; None without topics.
    """
    if not report.topics:
        return None
    named = [report.worst or report.topics[0]]
    number = number_of(len(named[0].questions), "question")
    frequent = f"most often *{clip(named[0].name, _NAME)}* ({number})"
    said = f"{frequent}. None scores clearly lower than all others."
    if changed:
        named = [*report.topics]  # it may name any of them
        said = changed
    elif report.worst and report.others:
        mean = _mean(report.worst.mean)
        said = f"{_counted(report.worst)}, {mean}; all others {report.others.judge.mean:.1f}."
    button = ui.button("Topics", ids.ACTION_TOPICS, subject_value)
    line = ui.section(f"Topics of *{clip(name)}* in four weeks: {said}")
    case_ids = [case_id for topic in named for case_id in topic.case_ids]
    return drawn_from(case_ids, line | {"accessory": ui.spoken(button, name)})


def _counted(topic: TopicCount) -> str:
    return f"*{clip(topic.name, _NAME)}* {number_of(len(topic.questions), 'question')}"


def _mean(mean: MeanEstimate | None) -> str:
    return f"*{mean.judge.mean:.1f}*" if mean else "not scored"


def topics_blocks(subject_value: str, name: str, report: Report, why_none: str) -> list[ui.Block]:
    """The table of an assistant's topics, or why there is none."""
    lines = [_topic_line(topic) for topic in report.topics] or [why_none]
    if report.topics and report.rest:
        lines.append(_topic_line(report.rest))
    channel_id = subject_value.partition(" ")[0]
    where = f"in <#{channel_id}>" if channel_id else "everywhere"
    title = f"*What people ask {clip(name)}* {where}"
    if report.topics:
        title += f"\n{_COUNTED_ARE}"
    blocks = [ui.section("\n".join([title, *lines]))]
    if report.topics or report.rest:
        write = ui.button(WRITE_TITLE, ids.ACTION_WRITE, subject_value)
        blocks.append(ui.actions(ui.spoken(write, name)))
    return blocks


def _topic_line(topic: TopicCount) -> str:
    name = f"*{clip(topic.name, _NAME)}*" if topic.name else "All else"
    parts = [f"{name}: {number_of(len(topic.questions), 'question')}", _mean(topic.mean)]
    if topic.mean and topic.mean.judge.low is not None:
        parts[-1] += f" ({topic.mean.judge.low:.1f} to {topic.mean.judge.high:.1f})"
    if unanswered := sum(each.is_unanswered for each in topic.questions):
        parts.append(f"{unanswered:,} {Sign.UNANSWERED.words} ({topic.unanswered_share:.0%})")
    counted = {sign: topic.count(sign) for sign in _COUNTED}
    parts += [
        f"{number:,} {sign.words} ({number / len(topic.questions):.0%})"
        for sign, number in counted.items()
        if number
    ]
    return f"• {' · '.join(parts)}"


def topics_post(blocks: Sequence[ui.Block]) -> Post:
    return Post("What people ask", list(blocks))


def write_post(
    subject_value: str,
    name: str,
    gaps: Sequence[Gap],
    words: Mapping[str, str],
    workspace_url: str,
    *,
    has_file: bool,
) -> Post:
    """The questions to write about, by topic; `words` are those that were read from Slack, by
    message.
    """
    title = f"{WRITE_TITLE} for {clip(name)}"
    basis = "By the questions of four weeks in your channels that were scored or not answered."
    blocks = [ui.section(f"*{title}*\n{basis}")]
    for gap in gaps[:_MOST_GAPS]:
        topic = f"*{clip(gap.topic, _NAME)}*" if gap.topic != OTHER else "*Other questions*"
        lines = [f"{topic}: {_how_often(len(gap.asked), gap.well)}"]
        lines += [_alike_line(group, words, workspace_url) for group in shown_groups(gap)]
        blocks.append(ui.section("\n".join(lines)))
    if not gaps:
        blocks.append(ui.section(NOTHING_BAD))
    elif has_file:
        button = ui.button("Send me this as a file", ids.ACTION_FILE, subject_value)
        blocks.append(ui.actions(button))
    return Post(title, blocks)


def shown_gaps(gaps: Sequence[Gap]) -> Sequence[Gap]:
    return gaps[:_MOST_GAPS]


def shown_groups(gap: Gap) -> Sequence[Alike]:
    return gap.groups[:_MOST_GROUPS]


def _alike_line(group: Alike, words: Mapping[str, str], workspace_url: str) -> str:
    newest = group.bad[0]
    text = excerpt(group.text or words.get(newest.question.ts, ""), _WORDS)
    said = f"“{text}”" if text else "a question whose words are not stored"
    if len(group.asked) > 1:
        said = f"{_how_often(len(group.asked), group.well)}: {said}"
    links = [_link(asked, workspace_url) for asked in group.bad[:_MOST_LINKS]]
    return f"• {said} {', '.join(links)}"


def _link(asked: Asked, workspace_url: str) -> str:
    question = asked.question
    link = ui.permalink(workspace_url, question.channel_id, question.ts, question.thread_ts)
    return f"<{link}|{asked.why[0]}>"


def to_row(
    name: str, gap: Gap, group: Alike, kept: Collection[int], workspace_url: str
) -> Mapping[str, Any]:
    """A row of the file; it has the words of a question if one of the cases whose words are kept
    has them.
    """
    is_kept = any(asked.reply and asked.reply.id in kept for asked in group.asked)
    reasons = Counter(reason for asked in group.bad for reason in asked.why)
    return {
        "assistant": name,
        "topic": gap.topic,
        "question": group.text if is_kept and group.text else None,
        "asked": len(group.asked),
        "answered_well": group.well,
        **{reason.replace(" ", "_"): reasons[reason] for reason in (*WORDS.values(), LOW)},
        "links": [_address(asked, workspace_url) for asked in group.bad],
    }


def _address(asked: Asked, workspace_url: str) -> str:
    question = asked.question
    return ui.address(workspace_url, question.channel_id, question.ts, question.thread_ts)


def _how_often(asked: int, well: int) -> str:
    return f"asked {_times(asked)}, answered well {_times(well)}"


def _times(number: int) -> str:
    return _TIMES[number] if number < len(_TIMES) else f"{number:,} times"
