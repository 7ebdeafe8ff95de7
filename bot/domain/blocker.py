"""Why there is nothing to judge in what a case is about, and why a person cannot have a case."""

from dataclasses import dataclass
from enum import StrEnum


class BlockerKind(StrEnum):
    OWN_MESSAGE = "own_message"
    A_PERSONS = "a_persons"
    NO_TEXT = "no_text"
    ONLY_FILES = "only_files"
    ONLY_IMAGE = "only_image"
    ONLY_BLOCKS = "only_blocks"
    UNREADABLE = "unreadable"
    OTHER_WORKSPACE = "other_workspace"
    GONE = "gone"
    MAY_NOT_READ = "may_not_read"
    NOT_KEPT = "not_kept"
    NO_RUBRIC = "no_rubric"
    NO_QUESTION = "no_question"
    TOO_LATE = "too_late"


@dataclass(frozen=True)
class Blocker:
    """A kind, and what has to be named: how many files, which blocks, host or rubric.

    A case carries the sentence (`blocker_text`), because the store keeps what its person read.
    """

    kind: BlockerKind
    names: tuple[str, ...] = ()
    count: int = 0


A_PERSONS = "I score only bots' replies here, and I cannot tell that this one is from a bot (setting SCORE_PEOPLE)."
_SENTENCES = {
    BlockerKind.TOO_LATE: "It was more than a day old before it could be scored.",
    BlockerKind.A_PERSONS: A_PERSONS,
    BlockerKind.OWN_MESSAGE: "That is one of my own messages, and I do not score myself.",
    BlockerKind.NO_TEXT: "That message has no text to score.",
    BlockerKind.ONLY_IMAGE: "That message contains only an image, and I score text.",
    BlockerKind.UNREADABLE: "I cannot read that kind of message.",
    BlockerKind.GONE: "That message was deleted, or I am not in its channel. Type `/invite @Slack Judge` there.",
    BlockerKind.MAY_NOT_READ: (
        "I cannot read messages here. Open the message's menu (⋮ More actions) and choose Score this reply, "
        "or type both texts: /judge question | response."
    ),
    BlockerKind.NO_QUESTION: "I could not find the question that this reply answers.",
    BlockerKind.NOT_KEPT: "The texts of that case were not stored, so I cannot score them again.",
}


def blocker_text(blocker: Blocker) -> str:
    match blocker.kind:
        case BlockerKind.ONLY_FILES:
            files = "a file" if blocker.count == 1 else f"{blocker.count} files"
            return f"That message contains only {files}, and I score text."
        case BlockerKind.ONLY_BLOCKS:
            return f"That message contains only a {' and a '.join(blocker.names)}, and I score text."
        case BlockerKind.OTHER_WORKSPACE:
            return f"That link is from another workspace ({blocker.names[0]}), and I can read only this one."
        case BlockerKind.NO_RUBRIC:
            return f"The rubric {blocker.names[0]!r} is no longer there."
        case kind:
            return _SENTENCES[kind]


class RefusalKind(StrEnum):
    FOREIGN = "foreign"
    CHANNEL_OFF = "channel_off"
    PEOPLE_OFF = "people_off"
    TOO_MANY_CASES = "too_many_cases"
    TOO_MANY_AUTOMATED = "too_many_automated"
    TOO_MANY_IN_WORKSPACE = "too_many_in_workspace"
    NO_TOKENS_LEFT = "no_tokens_left"


@dataclass(frozen=True)
class Refusal:
    kind: RefusalKind
    most: int = 0


class RefusedError(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.kind)
        self.refusal = refusal
