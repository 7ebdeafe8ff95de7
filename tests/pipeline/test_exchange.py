"""Which messages of a thread are the reply, its question and the conversation; a letter stands for
an author.
"""

from bot.domain.case import CaseTurn, Part, QuestionSource
from bot.pipeline.exchange import Exchange, is_anybodys, to_exchange
from bot.slack.messages import Message, to_message
from judge.scoring.attacks import LONGEST_TEXT
from tests.tables import each

PEOPLE = {"a", "b"}
US = "U1"
PREVIOUS = QuestionSource.PREVIOUS
PARENT = QuestionSource.PARENT
EARLIER = QuestionSource.EARLIER
FORM = QuestionSource.FORM


def thread(said: str) -> list[Message]:
    """Messages such as "a:Why? x:Because.", the first of which began the thread; "_" is a blank."""
    raws = []
    for number, (author, _, text) in enumerate(part.partition(":") for part in said.split()):
        raws.append(
            {
                "ts": f"{number}.0",
                "thread_ts": "0.0",
                "user": author,
                "text": text.replace("_", " "),
            }
        )
    return [to_message(raw) for raw in raws]


def exchange(said: str, at: int = -1) -> Exchange:
    messages = thread(said)
    found = to_exchange(messages, messages[at].ts, {US}, PEOPLE)
    assert found
    return found


@each(
    ("said", "reply", "question", "source", "conversation"),
    [
        ("a:Rooms? x:R.", "R.", "Rooms?", PREVIOUS, ""),
        (
            "a:Rooms? x:R. a:Coffee? x:C.",
            "C.",
            "Coffee?",
            PREVIOUS,
            "Person 1:Rooms? the assistant:R.",
        ),
        (
            "a:Rooms? x:R. a:Thanks. a:Coffee? x:C.",
            "C.",
            "Thanks.\nCoffee?",
            PREVIOUS,
            "Person 1:Rooms? the assistant:R.",
        ),
        ("a:Rooms? b:And_cars? x:R.", "R.", "And cars?", PREVIOUS, "Person 1:Rooms?"),
        ("a:Rooms? x:Wait. x:R.", "Wait.\n\nR.", "Rooms?", PREVIOUS, ""),
        (
            "a:Rooms? x:Wait. U1:Score_1. b:<@U1>_score_this x:R.",
            "Wait.\n\nR.",
            "Rooms?",
            PREVIOUS,
            "",
        ),
        ("a:Rooms? x:R. p:Noted. x:More.", "More.", "Rooms?", PARENT, ""),
        ("b:Hi. a:Rooms? p:Noted. x:R.", "R.", "Rooms?", EARLIER, "Person 1:Hi."),
        ("p:Form_by_<@U2> x:R.", "R.", "Form by @U2", FORM, ""),
        ("p:Alert p:Again x:R.", "R.", "Alert", FORM, ""),
        ("p:Alert a:Rooms? x:R.", "R.", "Rooms?", PREVIOUS, "another app:Alert"),
        ("x:Hello. p:Noted. x:R.", "R.", None, None, ""),
        ("x:Hello. x:R.", "Hello.\n\nR.", None, None, ""),
        ("a:Rooms? b:R.", "R.", "Rooms?", PREVIOUS, ""),
        ("a:Rooms? x:R. a:I_know.", "I know.", None, None, ""),
    ],
)
def test_a_reply_its_question_and_what_was_said_before(
    said: str, reply: str, question: str | None, source: QuestionSource | None, conversation: str
) -> None:
    found = exchange(said)
    assert found.response == reply
    assert (found.question and found.question.text, found.question and found.question.source) == (
        question,
        source,
    )
    assert " ".join(f"{turn.role}:{turn.text}" for turn in found.conversation) == conversation


@each("at", [1, 2, 3])
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
    [("pinned_item", False), ("group_topic", False), ("me_message", True), ("file_share", True)],
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
        ("<@U99>_please_look", "p"),
    ],
)
def test_a_form_has_the_words_of_the_one_person_whom_it_names(names: str, author_id: str) -> None:
    assert exchange(f"p:By_{names} U99:R.").question.author_id == author_id
    assert exchange(f"p:By_{names} a:And? U99:R.").conversation[0].author_id == author_id


def test_of_a_reply_that_is_too_long_the_first_and_the_newest_messages_are_judged() -> None:
    parts = [str(number % 10) * (LONGEST_TEXT // 20) for number in range(60)]
    response = exchange(" ".join(["a:Why?", *(f"x:{part}" for part in parts)])).response
    assert len(response) <= LONGEST_TEXT
    first, mark, *newest = response.split("\n\n")
    assert (first, mark) == (parts[0], f"[{59 - len(newest)} messages left out]")
    assert newest == parts[-len(newest) :]


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
