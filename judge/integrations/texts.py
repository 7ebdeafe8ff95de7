"""Finds question, response, conversation and reference in the values that other tools pass."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from judge.rows.messages import Dialogue, read_messages, split_messages
from judge.rows.row_file import to_added
from judge.scoring.judging import Judge
from judge.scoring.ratings import Verdict


def find_dialogue(asked: Any, answered: Any) -> Dialogue:
    """The dialogue of two values: each a string, messages, or a mapping with `messages` or with one
    string.

    If `answered` has the user's messages, too, `asked` is not needed. Raises ValueError without one
    clear text.
    """
    question = _find(asked)
    response = _find(answered)
    if isinstance(question, str) and isinstance(response, str):
        return Dialogue(question, response)
    before = [{"role": "user", "content": question}] if isinstance(question, str) else question
    after = [{"role": "assistant", "content": response}] if isinstance(response, str) else response
    messages = after if split_messages(after)[0] else [*before, *after]
    own, rest = split_messages(messages)
    for role, part in (("user", own), ("assistant", after and rest)):
        if not part:
            raise ValueError(
                f"a string or a message by the {role} was looked for among {len(messages)} messages"
            )
    return read_messages(messages)


async def score_dialogue(
    judge: Judge, asked: Any, answered: Any, expected: Any
) -> tuple[Verdict, dict[str, Any]]:
    """The verdict on a dialogue, as `find_dialogue` finds it, or on its parts; and its fields in
    `judge batch`.

    What a tool expects of the answer is the reference for a rubric that places one; other rubrics
    never got it.
    """
    said = asked if isinstance(asked, Dialogue) else find_dialogue(asked, answered)
    known = "" if expected is None or not judge.rubric.needs_reference else expected
    known = known if isinstance(known, str) else json.dumps(known, ensure_ascii=False, default=str)
    verdict = await judge.score(
        said.question, said.response, conversation=said.conversation, reference=known
    )
    return verdict, to_added(verdict, judge.samples)


def _find(value: Any) -> str | Sequence[Any]:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and "messages" not in value:
        texts = [each for each in value.values() if isinstance(each, str)]
        if len(texts) == 1:
            return texts[0]
        raise ValueError(
            "one text was looked for, or 'messages', among "
            f"{', '.join(map(repr, value)) or 'no fields'}"
        )
    messages = value["messages"] if isinstance(value, Mapping) else value
    if not isinstance(messages, Sequence) or not all(
        isinstance(each, Mapping) for each in messages
    ):
        raise ValueError(f"a string or messages were looked for in a {type(value).__name__}")
    return messages
