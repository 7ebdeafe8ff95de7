"""Which messages of a thread are the reply, its question and the conversation; a letter stands for
an author.
"""

from bot.domain.case import CaseTurn, Part
from bot.pipeline.exchange import Exchange, is_anybodys, to_exchange
from bot.slack.messages import Message, to_message
from tests.tables import each

PEOPLE = {"a", "b"}
US = "U1"


def thread(said: str) -> list[Message]:
    """Messages such as "a:Why? x:Because.", the first of which began the thread; "_" is a blank."""
    messages = []
    for number, part in enumerate(said.split()):
        author, _, text = part.partition(":")
        place = {"ts": f"{number}.0", "thread_ts": "0.0"}
        messages.append(to_message(place | {"user": author, "text": text.replace("_", " ")}))
    return messages


def exchange(said: str, at: int = -1) -> Exchange:
    messages = thread(said)
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
p:Alert a:Rooms? x:R. | R. | Rooms? | previous | another app:Alert
x:Hello. p:Noted. x:R. | R. | | |
x:Hello. x:R. | Hello.;;R. | | |
a:Rooms? b:R. | R. | Rooms? | previous |
"""


@each("row", EXCHANGES.strip().splitlines())
def test_a_reply_its_question_and_what_was_said_before(row: str) -> None:
    said, *expected = [part.strip().replace(";", "\n") for part in row.split("|")]
    found = exchange(said)
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
    raw = {
        "ts": "1.0",
        "user": "a",
        "subtype": subtype,
        "text": "pinned a message to this channel.",
    }
    assert is_anybodys(to_message(raw), {US}) is is_said


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


def test_what_cannot_be_read_stands_at_its_place_and_is_counted() -> None:
    words = thread("a:Why? x:R.")[1]
    picture = {"id": "F1", "name": "a.png", "mimetype": "image/png"}
    raw = {"ts": "2.0", "thread_ts": "0.0", "user": "x", "files": [picture]}
    found = Exchange((words, to_message(raw)))
    assert found.response == "R.\n\n[picture: a.png]"
    assert found.to_found()["unread"] == "1 picture"


@each(
    ("said", "question"),
    [("a:Why? x:Which_error? a:- x:R.", "[picture: a.png]"), ("a:- x:R.", None)],
)
def test_a_picture_is_a_question_if_something_was_said_before(
    said: str, question: str | None
) -> None:
    *before, _, reply = thread(said)
    picture = {"id": "F1", "name": "a.png", "mimetype": "image/png"}
    shown = to_message(
        {"ts": f"{len(before)}.0", "thread_ts": "0.0", "user": "a", "files": [picture]}
    )
    found = to_exchange([*before, shown, reply], reply.ts, {US}, PEOPLE)
    assert (found.question and found.question.text) == question


def test_the_author_of_a_message_that_was_shared_into_the_question_is_named() -> None:
    shared = {
        "is_share": True,
        "author_id": "U7",
        "text": "Mine.",
        "from_url": "https://pocket.slack.com/x",
    }
    raw = {"ts": "0.0", "thread_ts": "0.0", "user": "a", "text": "True?", "attachments": [shared]}
    found = to_exchange([to_message(raw), *thread("a:- x:R.")[1:]], "1.0", {US}, PEOPLE)
    assert "Mine." in found.question.text
    assert [turn for turn in found.turns if turn.part is Part.SHARED] == [
        CaseTurn(part=Part.SHARED, ts="0.0", author_id="U7", text=None, text_hash="")
    ]
