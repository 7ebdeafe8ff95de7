"""Which messages of a thread are the reply, its question and the conversation; a letter stands for
an author.
"""

from typing import Any

from bot.domain.case import Part
from bot.pipeline.exchange import Exchange, is_anybodys, to_exchange
from bot.slack.messages import Message, to_message
from tests.tables import each

PEOPLE = {"a", "b"}
US = "U1"


def thread(words: str) -> list[Message]:
    """Messages such as "a:Why? x:Because.", the first of which began the thread; "_" is a blank."""
    parts = [part.partition(":") for part in words.split()]
    return [
        said(author, number, text=text.replace("_", " "))
        for number, (author, _, text) in enumerate(parts)
    ]


def exchange(words: str, at: int = -1) -> Exchange:
    messages = thread(words)
    found = to_exchange(messages, messages[at].ts, {US}, PEOPLE)
    assert found
    return found


# What is said | the reply | its question | where that was found | the conversation before it
EXCHANGES = """
a:Rooms? x:R. | R. | Rooms? | previous |
a:1 x:R. a:Thanks. a:Coffee? x:C. | C. | Thanks.;Coffee? | previous | Person 1:1 the assistant:R.
a:Rooms? b:And_cars? x:R. | R. | And cars? | previous | Person 1:Rooms?
a:Rooms? x:Wait. x:R. | Wait.;;R. | Rooms? | previous |
a:Rooms? x:1 U1:Score_1. b:<@U1>_score_this x:2 | 1;;2 | Rooms? | previous |
a:Rooms? x:R. p:Noted. x:More. | More. | Rooms? | parent |
b:Hi. a:Rooms? p:Noted. x:R. | R. | Rooms? | earlier | Person 1:Hi.
p:Form_by_<@U2> x:R. | R. | Form by @U2 | form |
p:Alert p:Again x:R. | R. | Alert | form |
p:Alert a:Rooms? x:R. | R. | Rooms? | previous | another app:Alert
x:Hello. p:Noted. x:R. | R. | | |
x:Hello. x:R. | Hello.;;R. | | |
a:Rooms? b:R. | R. | Rooms? | previous |
a:Rooms? x:R. a:I_know. | I know. | | |
"""


@each("row", EXCHANGES.strip().splitlines())
def test_a_reply_its_question_and_what_was_said_before(row: str) -> None:
    words, *expected = [part.strip().replace(";", "\n") for part in row.split("|")]
    found = exchange(words)
    question = found.question
    conversation = " ".join(f"{turn.role}:{turn.text}" for turn in found.conversation)
    read = [question.text, question.source] if question else ["", ""]
    assert [found.response, *read, conversation] == expected


@each("at", [1, 2])
def test_every_message_of_a_reply_means_the_whole(at: int) -> None:
    found = exchange("a:Rooms? x:1 x:2 x:3 a:Thanks.", at)
    assert found.response == "1\n\n2\n\n3"
    assert (found.to_found()["message_ts"], found.to_found()["messages"]) == ("1.0", 3)


@each(("ts", "question", "before"), [("4.0", "Thanks.\nCoffee?", 3), ("9.0", None, 0)])
def test_a_chosen_message_is_the_question_and_no_other_if_it_is_gone(
    ts: str, question: str | None, before: int
) -> None:
    found = to_exchange(
        thread("p:Alert a:Rooms? x:R. a:Thanks. a:Coffee? b:Tea? x:C."), "6.0", {US}, PEOPLE, ts
    )
    assert (found.question and found.question.text, found.messages_before) == (question, before)


@each(
    ("subtype", "is_said"),
    [("pinned_item", False), ("me_message", True)],
)
def test_slacks_own_notices_are_no_part_of_a_conversation(subtype: str, is_said: bool) -> None:
    assert is_anybodys(said("a", 1, subtype=subtype, text="pinned it."), {US}) is is_said


@each(
    ("names", "author_id"),
    [
        ("<@U22>", "U22"),
        ("<@U22>_<@U33>", "p"),
        ("<@U22>_asks_<@U99>", "U22"),
    ],
)
def test_a_form_has_the_words_of_the_one_person_whom_it_names(names: str, author_id: str) -> None:
    assert exchange(f"p:By_{names} U99:R.").question.author_id == author_id
    assert exchange(f"p:By_{names} a:And? U99:R.").conversation[0].author_id == author_id


def test_a_long_conversation_keeps_its_first_and_its_newest_messages_and_counts_the_others() -> (
    None
):
    found = exchange(
        " ".join([*(f"{'ax'[number % 2]}:{number}" for number in range(40)), "a:Why?", "x:R."])
    )
    texts = [turn.text for turn in found.conversation]
    assert (texts[0], texts[-1], found.messages_before) == ("0", "39", 40)
    assert len(texts) + found.left_out == 40


PICTURE = {"files": [{"id": "F1", "name": "a.png", "mimetype": "image/png"}]}


def said(author: str, at: int, **content: Any) -> Message:
    return to_message({"ts": f"{at}.0", "thread_ts": "0.0", "user": author, **content})


def test_what_cannot_be_read_stands_at_its_place_and_is_counted() -> None:
    found = Exchange((thread("a:Why? x:R.")[1], said("x", 2, **PICTURE)))
    assert found.response == "R.\n\n[picture: a.png]"
    assert found.to_found()["unread"] == "1 picture"


@each(
    ("before", "question"),
    [("a:Why? x:Which_error?", "[picture: a.png]"), ("", None)],
)
def test_a_picture_is_a_question_if_something_was_said_before(
    before: str, question: str | None
) -> None:
    messages = [*thread(before), said("a", 8, **PICTURE), said("x", 9, text="R.")]
    found = to_exchange(messages, "9.0", {US}, PEOPLE)
    assert (found.question and found.question.text) == question


def test_the_author_of_a_message_that_was_shared_into_the_question_is_named() -> None:
    shared = {"is_share": True, "author_id": "U7", "text": "Mine."}
    asked = said("a", 0, text="True?", attachments=[shared])
    found = to_exchange([asked, said("x", 1, text="R.")], "1.0", {US}, PEOPLE)
    assert "Mine." in found.question.text
    assert [(turn.part, turn.author_id) for turn in found.turns] == [(Part.SHARED, "U7")]
