"""Why there is nothing to judge, in one plain sentence for the person who asked."""

from bot.domain.blocker import Obstacle, ObstacleKind

A_PERSONS = "I score the replies of bots alone here, and that one is not known to be a bot's (setting SCORE_PEOPLE)."
_SENTENCES = {
    ObstacleKind.TOO_LATE: "It was written more than a day before it could be scored.",
    ObstacleKind.A_PERSONS: A_PERSONS,
    ObstacleKind.OWN_MESSAGE: "That is one of my own messages, and I do not score myself.",
    ObstacleKind.NO_TEXT: "That message has no text to score.",
    ObstacleKind.ONLY_IMAGE: "That message holds only an image, and I score text.",
    ObstacleKind.UNREADABLE: "That message has a shape that I do not know, so I cannot read it.",
    ObstacleKind.GONE: "That message is gone, or I cannot see its channel (invite me there).",
    ObstacleKind.MAY_NOT_READ: (
        "I may not read messages here. Open the message's menu (⋮ More actions) and choose Score this reply, "
        "or type both texts: /judge question | response."
    ),
    ObstacleKind.NO_QUESTION: "I could not find the question that this reply answers.",
    ObstacleKind.NOT_KEPT: "The texts of that case were not kept, so I cannot score them again.",
}


def obstacle_text(obstacle: Obstacle) -> str:
    """The sentence that is shown, and kept with the case."""
    match obstacle.kind:
        case ObstacleKind.ONLY_FILES:
            files = "a file" if obstacle.count == 1 else f"{obstacle.count} files"
            return f"That message holds only {files}, and I score text."
        case ObstacleKind.ONLY_BLOCKS:
            return f"That message holds only a {' and a '.join(obstacle.names)}, and I score text."
        case ObstacleKind.OTHER_WORKSPACE:
            return f"That link is from another workspace ({obstacle.names[0]}), and I can only read this one."
        case ObstacleKind.NO_RUBRIC:
            return f"The rubric {obstacle.names[0]!r} is no longer there."
        case kind:
            return _SENTENCES[kind]
