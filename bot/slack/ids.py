"""Callback, action and block ids that the base draws; each feature has its own beside it."""

COMMAND = "/judge"
SHORTCUT_SCORE_REPLY = "score_reply"

VIEW_TEXTS = "score_texts"
VIEW_ANSWER = "answer_question"
VIEW_CORRECT = "correct_question"

ACTION_AGAIN = "score_again"
ACTION_WRONG_QUESTION = "wrong_question"
ACTION_DETAILS = "show_details"
ACTION_POINTS = "ask_for_points"
ACTION_ASK = "type_question"
ACTION_AGREE = "agree"
ACTION_DISAGREE = "disagree"
ACTION_LABEL = "give_own_score"
ACTION_FAIR = "fair"
ACTION_NOT_FAIR = "not_fair"
ACTION_RECENT_NEWEST = "show_newest_cases"
ACTION_OPEN_WINDOW = "open_window"
ACTION_HELP = "show_help"

# The block id of each input is also its action id.
BLOCK_QUESTION = "question"
BLOCK_CHOSEN = "chosen_question"
BLOCK_RESPONSE = "response"
BLOCK_RUBRIC = "rubric"
BLOCK_VISIBILITY = "visibility"

# Blocks that are looked up in a message of ours.
BLOCK_AMENDMENT = "amendment"
BLOCK_REPLACED = "replaced"
BLOCK_WORDS = "words-"  # followed by the case whose words it quotes
BLOCK_DRAWN = "drawn-"  # followed by the cases that all of its words are drawn from

METADATA_EVENT = "slack_judge_case"


def of(block_id: str, which: int | str | None) -> str:
    """The id of an input in a window that shows one case after another; Slack keeps typed text
    while an id stays.
    """
    return f"{block_id}-{which}"
