"""Messages of real logs become question, response and conversation: each format as its
documentation has it.
"""

from typing import Any

import pytest

from judge import Turn
from judge.rows.messages import Dialogue, find_prompt, read_messages, split_messages
from tests.tables import each

READ = "only the messages of OpenAI and Anthropic are read"
ROLES = "known are user, assistant, tool, system, developer"


def by(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


CALLED = "assistant after the question"
GAVE = "tool after the question"
CALL = {"id": "1", "type": "function", "function": {"name": "look", "arguments": '{"at": [1]}'}}
PICTURE = {"type": "image_url", "image_url": {"url": "data:,"}}
CATS = {"type": "url_citation", "url_citation": {"title": "Cats", "url": "https://c.org"}}
CHAT_COMPLETIONS = [
    by("system", "Be brief."),
    by("user", "Hi"),
    by("assistant", "Hello! [source: x]"),
    by("user", [{"type": "text", "text": "What is it?"}, PICTURE]),
    by("assistant", "Let me look.", tool_calls=[CALL]),
    by("tool", "A cat", tool_call_id="1"),
    by("assistant", "It is a cat.", annotations=[CATS]),
]

CITED = {"type": "url_citation", "title": "T", "url": "https://t.org"}
SAYS_42 = {"type": "output_text", "text": "It says 42.", "annotations": [CITED, CITED]}
REPORT = {"type": "input_file", "filename": "report.pdf"}
RESPONSES = [
    {"type": "message", **by("developer", [{"type": "input_text", "text": "Be brief."}])},
    by("user", [{"type": "input_text", "text": "Sum it up."}, REPORT]),
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
    {
        "type": "message",
        "phase": "commentary",
        **by("assistant", [{"type": "output_text", "text": "I read\nit."}]),
    },
    {"type": "web_search_call", "status": "completed", "action": {"query": "q"}},
    {"type": "function_call", "name": "read", "arguments": "{}", "call_id": "1"},
    {"type": "function_call_output", "call_id": "1", "output": "42"},
    {"type": "message", **by("assistant", [SAYS_42])},
    {"type": "message", **by("assistant", [{"type": "refusal", "refusal": "No more."}])},
]
HERE = [{"type": "text", "text": "Here."}]
FIND = {"type": "tool_use", "name": "find", "input": {"a": 1}}
ANTHROPIC = [
    by("user", "Find it."),
    by("assistant", [{"type": "thinking", "thinking": "Hm."}, FIND]),
    by("user", [{"type": "tool_result", "content": HERE}]),
    by("assistant", [{"type": "text", "text": "Found."}]),
]
SEARCH = [
    {"type": "server_tool_use", "name": "web_search", "input": {"query": "it"}},
    {"type": "web_search_tool_result", "content": HERE},
    {"type": "text", "text": "Found."},
]
WEB = {"type": "web_search_result_location", "title": "T", "url": "https://e.org"}
PAGE = {"type": "page_location", "document_title": "a.pdf"}
FILE = {"type": "file_citation", "filename": "b"}
ANTHROPIC_CITED = [
    by("user", [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]),
    by(
        "assistant",
        [
            {"type": "text", "text": "Spain "},
            {"type": "text", "text": "won [sour", "citations": [WEB]},
            {"type": "text", "text": "ce: x].", "citations": [PAGE]},
            {"type": "image", "citations": {"enabled": True}},
            {"type": "output_text", "text": "Yes.", "annotations": [FILE]},
        ],
    ),
]


WELL = {"type": "text", "text": "Well?"}


def found(*turns: Turn) -> Dialogue:
    return Dialogue("Find it.", "Found.", turns)


@each(
    ("messages", "expected"),
    [
        (
            CHAT_COMPLETIONS,
            Dialogue(
                "What is it?\n[picture]",
                "[step: Let me look.]\n\nIt is a cat.\n[source: Cats (https://c.org)]",
                (
                    Turn("system", "Be brief."),
                    Turn("user", "Hi"),
                    Turn("assistant", "Hello! (source: x)"),
                    Turn(CALLED, '[step: look {"at": (1)}]'),
                    Turn(GAVE, "A cat"),
                ),
            ),
        ),
        (
            RESPONSES,
            Dialogue(
                "Sum it up.\n[file: report.pdf]",
                "[step: I read it.]\n\nIt says 42.\n[source: T (https://t.org)]\n\nNo more.",
                (
                    Turn("developer", "Be brief."),
                    Turn(CALLED, '[step: web_search_call {"query": "q"}]'),
                    Turn(CALLED, "[step: read {}]"),
                    Turn(GAVE, "42"),
                ),
            ),
        ),
        (ANTHROPIC, found(Turn(CALLED, '[step: find {"a": 1}]'), Turn(GAVE, "Here."))),
        (
            [by("user", "Find it."), by("assistant", SEARCH)],
            found(Turn(CALLED, '[step: web_search {"query": "it"}]'), Turn(GAVE, "Here.")),
        ),
        (
            [*ANTHROPIC[:2], by("user", [*ANTHROPIC[2]["content"], WELL]), ANTHROPIC[3]],
            Dialogue(
                "Well?",
                "Found.",
                (
                    Turn("user", "Find it."),
                    Turn("assistant", '[step: find {"a": 1}]'),
                    Turn("tool", "Here."),
                ),
            ),
        ),
        (
            [by("user", "a"), by("user", "b"), by("assistant", "c"), by("assistant", "d")],
            Dialogue("a\n\nb", "c\n\nd"),
        ),
        (
            [by("user", "a"), by("assistant", "b"), by("user", "Thanks!"), by("user", "Bye")],
            Dialogue("a", "b"),
        ),
        (
            ANTHROPIC_CITED,
            Dialogue(
                "One.\nTwo.",
                "Spain won (source: x).\n[picture]\nYes.\n[source: T (https://e.org)]\n"
                "[source: a.pdf]\n[source: b]",
            ),
        ),
        *(
            (
                [by("user", "<think>a</think>"), by("assistant", said)],
                Dialogue("<think>a</think>", response),
            )
            for said, response in (
                ("<think>\nHm.\n</think>\n\nYes.", "Yes."),
                *(("Hm.\n</think>\n\nYes.", "Yes."), ("<think>Hm.", "")),
                ("Write `</think>` at the end.", "Write `</think>` at the end."),
            )
        ),
        # words before a step are the answer if none follow
        (
            [by("user", "a"), by("assistant", "Saved.", tool_calls=[CALL]), by("tool", "")],
            Dialogue("a", "Saved.", (Turn(CALLED, '[step: look {"at": (1)}]'),)),
        ),
        (
            [by("user", "a"), by("assistant", [WELL, {"type": "foo"}, {"type": "input_audio"}])],
            Dialogue("a", "Well?\n[block: foo]\n[audio]"),
        ),
    ],
)
def test_messages_are_read_as_people_saw_them(messages: list[Any], expected: Dialogue) -> None:
    assert read_messages(messages) == expected


@each(
    ("messages", "question", "response"),
    [
        ([by("assistant", "Hello!")], "", "Hello!"),
        ([by("user", ""), by("assistant", None)], "", ""),
        ([by("user", "a"), by("assistant", "b"), by("user", "c"), by("tool", "d")], "c", ""),
    ],
)
def test_what_is_missing_is_empty(messages: list[Any], question: str, response: str) -> None:
    assert read_messages(messages)[:2] == (question, response)


@each(
    ("message", "problem"),
    [
        (1, "is a number where an object belongs"),
        ({}, f"has no role; {READ}"),
        (by("user", 3), "has a number as its content, where a text or a list of parts belongs"),
        (by("user", [{"type": "text", "text": {}}]), "has an object where a text belongs"),
        # Gemini, and OpenTelemetry's events
        ({"role": "model", "parts": []}, f"has no content, only role, parts; {READ}"),
    ],
)
def test_what_is_no_message_gives_one_sentence(message: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=f"^message 2 of messages {problem}$"):
        read_messages([by("user", "a"), message])


def test_unknown_role_is_said() -> None:
    problem = f"^messages have a role that is not known: 'agent'; {ROLES}$"
    with pytest.raises(ValueError, match=problem):
        read_messages([by("user", "a"), by("agent", "b"), by("assistant", "c")])


def test_messages_are_split_after_the_last_question() -> None:
    assert split_messages(CHAT_COMPLETIONS) == (CHAT_COMPLETIONS[:4], CHAT_COMPLETIONS[4:])
    assert split_messages([*ANTHROPIC, by("user", "Thanks!")]) == (ANTHROPIC[:1], ANTHROPIC[1:])


def test_a_prompt_is_all_that_was_asked_with_its_pictures_and_nothing_after_it() -> None:
    asked = CHAT_COMPLETIONS[:4]
    other = [*asked[:3], by("user", [WELL, PICTURE | {"image_url": {"url": "data:b"}}])]
    mine = [*asked[:3], by("user", [WELL, PICTURE], id="1")]
    prompts = [find_prompt([*each, by("assistant", "A cat.")]) for each in (mine, other)]
    assert prompts[0] != prompts[1]
    assert prompts[0] == find_prompt([*mine, *CHAT_COMPLETIONS[4:]])
