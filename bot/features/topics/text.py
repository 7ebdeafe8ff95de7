"""How topics are said, and what to write about them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bot.domain.outcome import Sign
from bot.features.topics import ids
from bot.features.topics.change import Moved
from bot.features.topics.counts import Report, SortedQuestion, TopicCount
from bot.features.topics.writing import LOW, WORDS, Alike, Gap, why
from bot.figures.quality import span
from bot.slack import blocks as ui
from bot.slack.messenger import Post, drawn_from
from bot.slack.mrkdwn import clip, escape, excerpt
from judge.evaluation.naming import OTHER
from judge.evaluation.topics import FEWEST_QUESTIONS, FEWEST_SHOWN
from judge.scoring.numbers import number_of

WRITE_TITLE = "What to write"
WORD = "topics"
HELP = "• `/judge topics @assistant` shows what people ask it, and what to write about that"
NONE_YET = (
    f"None yet. A model names them once a week has {FEWEST_QUESTIONS} questions whose replies were "
    f"scored, and sorts new ones each day; those with {FEWEST_SHOWN} are shown. With the offline "
    "rater, and where no words are stored (`STORE_TEXT=none`), there are none."
)
NOTHING_BAD = (
    "Of the questions of four weeks, none was left unanswered, scored low, contested or joined by a "
    "colleague."
)
_MOST_LINKS = 2
_COUNTED_ARE = "Of four weeks' questions, those that were scored or not answered, and what came of them so far:"
_NAME = 60
_WORDS = 140
_TIMES = ("never", "once", "twice")
_COUNTED = Sign.UNANSWERED, Sign.COLLEAGUE, Sign.CONTESTED


def only_in_line(topic: str, moved: Moved) -> str:
    """That a change lies in one topic."""
    now = f"{moved.now.judge.mean:.1f}, was {moved.before.judge.mean:.1f}"
    return f"Only in *{clip(topic, _NAME)}*: {now}."


def week_block(subject_value: str, name: str, report: Report, changed: str) -> ui.Block | None:
    """The line of a digest on an assistant's topics: the one that its change lies in, or that
    clearly scores lowest, or the most frequent one; None without topics.
    """
    if not report.topics:
        return None
    named = report.topics  # a change may be in any of them
    if not changed:
        named = [report.worst or report.topics[0]]
    line = ui.section(f"Topics of *{clip(name)}* in four weeks: {changed or _one_topic(report)}")
    button = ui.button("Topics", ids.ACTION_TOPICS, subject_value)
    case_ids = [case_id for topic in named for case_id in topic.case_ids]
    return drawn_from(case_ids, line | {"accessory": ui.spoken(button, name)})


def _one_topic(report: Report) -> str:
    topic = report.worst or report.topics[0]
    name = f"*{clip(topic.name, _NAME)}*"
    number = number_of(len(topic.questions), "question")
    if report.worst and topic.mean and report.others:
        mean = f"*{topic.mean.judge.mean:.1f}*"
        return f"{name} {number}, {mean}; all others {report.others.judge.mean:.1f}."
    return f"most often {name} ({number}). None scores clearly lower than all others."


def topics_blocks(subject_value: str, name: str, report: Report) -> list[ui.Block]:
    """The table of an assistant's topics, or why there is none."""
    channel_id = subject_value.partition(" ")[0]
    where = f"in <#{channel_id}>" if channel_id else "everywhere"
    lines = [f"*What people ask {clip(name)}* {where}"]
    if report.topics:
        lines += [_COUNTED_ARE, *map(_topic_line, report.topics)]
    else:
        lines.append(NONE_YET)
    if report.topics and report.rest:
        lines.append(_topic_line(report.rest))
    blocks = [ui.section("\n".join(lines))]
    if report.topics or report.rest:
        write = ui.button(WRITE_TITLE, ids.ACTION_WRITE, subject_value)
        blocks.append(ui.actions(ui.spoken(write, name)))
    return blocks


def _topic_line(topic: TopicCount) -> str:
    name = f"*{clip(topic.name, _NAME)}*" if topic.name else "All else"
    asked = len(topic.questions)
    mean = span(topic.mean.judge if topic.mean else None, ".1f", "*")
    parts = [f"{name}: {number_of(asked, 'question')}", f"mean {mean}"]
    for sign in _COUNTED:
        number = sum(sign in question.signs for question in topic.questions)
        # Of the others, those that were not drawn count as well.
        share = topic.unanswered_share if sign is Sign.UNANSWERED else number / asked
        if number:
            parts.append(f"{number:,} {sign.words} ({share:.0%})")
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
    blocks += [_gap_block(gap, words, workspace_url) for gap in gaps]
    if not gaps:
        blocks.append(ui.section(NOTHING_BAD))
    elif has_file:
        button = ui.button("Send me this as a file", ids.ACTION_FILE, subject_value)
        blocks.append(ui.actions(button))
    return Post(title, blocks)


def _gap_block(gap: Gap, words: Mapping[str, str], workspace_url: str) -> ui.Block:
    topic = f"*{clip(gap.topic, _NAME)}*" if gap.topic != OTHER else "*Other questions*"
    lines = [f"{topic}: {_how_often(len(gap.asked), gap.well)}"]
    lines += [_alike_line(group, words, workspace_url) for group in gap.groups]
    return ui.section("\n".join(lines))


def _alike_line(group: Alike, words: Mapping[str, str], workspace_url: str) -> str:
    newest = group.bad[0]
    text = excerpt(group.text or words.get(newest.question.ts, ""), _WORDS)
    said = f"“{text}”" if text else "a question whose words are not stored"
    if len(group.asked) > 1:
        said = f"{_how_often(len(group.asked), group.well)}: {said}"
    links = [_link(asked, workspace_url) for asked in group.bad[:_MOST_LINKS]]
    return f"• {said} {', '.join(links)}"


def _link(asked: SortedQuestion, workspace_url: str) -> str:
    return f"<{escape(_address(asked, workspace_url))}|{why(asked)[0]}>"


def to_row(name: str, gap: Gap, group: Alike, workspace_url: str) -> Mapping[str, Any]:
    """A row of the file; it has the words of a question if a case in it has them, with which they
    go.
    """
    is_quoted = any(asked.reply and asked.reply.question for asked in group.asked)
    reasons = Counter(reason for asked in group.bad for reason in why(asked))
    return {
        "assistant": name,
        "topic": gap.topic,
        "question": group.text if is_quoted else None,
        "asked": len(group.asked),
        "answered_well": group.well,
        **{reason.replace(" ", "_"): reasons[reason] for reason in (*WORDS.values(), LOW)},
        "links": [_address(asked, workspace_url) for asked in group.bad],
    }


def _address(asked: SortedQuestion, workspace_url: str) -> str:
    question = asked.question
    return ui.address(workspace_url, question.channel_id, question.ts, question.thread_ts)


def _how_often(asked: int, well: int) -> str:
    return f"asked {_times(asked)}, answered well {_times(well)}"


def _times(number: int) -> str:
    return _TIMES[number] if number < len(_TIMES) else f"{number:,} times"
