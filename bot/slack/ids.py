"""Callback, action and block ids, which Slack sends back; each is defined once."""

COMMAND = "/judge"
SHORTCUT_SCORE_REPLY = "score_reply"
FUNCTION_SCORE_REPLY = "score_reply"

# The inputs and outputs of the function, as in manifest_parts.yml.
INPUT_USER = "user_id"
INPUT_MESSAGE = "message"
INPUT_LINK = "link"
INPUT_QUESTION = "question"
INPUT_RESPONSE = "response"
OUTPUT_SCORED = "scored"
OUTPUT_SCORE = "score"
OUTPUT_JUSTIFICATION = "justification"
OUTPUT_REASON = "reason"
OUTPUT_LINK = "verdict_link"

VIEW_TEXTS = "score_texts"
VIEW_ANSWER = "answer_question"
VIEW_CORRECT = "correct_question"
VIEW_LABEL = "record_label"
VIEW_BLIND = "score_blind"
VIEW_COMPARED = "go_on_scoring_blind"
VIEW_RUBRIC = "save_rubric"
VIEW_RUBRIC_SAVED = "use_rubric"
VIEW_HOME = "home"
VIEW_WATCH = "set_watch"

ACTION_AGAIN = "score_again"
ACTION_WRONG_QUESTION = "wrong_question"
ACTION_DETAILS = "show_details"
ACTION_ASK = "type_question"
ACTION_FEEDBACK = "feedback"
ACTION_AGREE = "agree"
ACTION_DISAGREE = "disagree"
ACTION_LABEL = "give_own_score"
ACTION_BLIND = "score_a_few_blind"
ACTION_SKIP = "skip_case"
ACTION_SEEN = "have_seen_score"
ACTION_BEFORE = "show_conversation"
ACTION_RECENT_NEWEST = "show_newest_cases"
ACTION_RECENT_OLDER = "show_older_cases"
ACTION_HOME_JUDGE = "judge_something"
ACTION_HOME_REFRESH = "refresh_home"
ACTION_HOME_WATCH = "change_watch_at_home"
ACTION_HOME_VISIBILITY = "choose_visibility"
ACTION_DIGEST_ON = "switch_digest_on"
ACTION_DIGEST_OFF = "switch_digest_off"
ACTION_LOWEST = "show_lowest"
ACTION_FORGET = "forget"
ACTION_OPEN_WINDOW = "open_window"
ACTION_RUBRIC = "rubric-"  # followed by use, view or edit
ACTION_RUBRIC_DELETE = "delete_rubric"
ACTION_RUBRIC_USE = "use_replayed_rubric"
ACTION_RUBRIC_LEAVE = "leave_replayed_rubric"
ACTION_IMPROVE_STOP = "stop_improvement"
ACTION_IMPROVE_USE = "use_improved_rubric"
ACTION_IMPROVE_LEAVE = "leave_improved_rubric"
ACTION_IMPROVE_BACK = "go_back_from_improved_rubric"
ACTION_IMPROVE_VIEW = "view_improved_rubric"
ACTION_HELP = "show_help"
ACTION_WATCH = "change_watch"
ACTION_WATCH_END = "end_watch"
ACTION_WATCH_OFF = "end_watch_in_channel"
ACTION_TEST_ALERT = "send_test_alert"

# The values of the feedback buttons, followed by a colon and the case.
AGREE = "agree"
DISAGREE = "disagree"

# The block id of each input is also its action id.
BLOCK_QUESTION = "question"
BLOCK_CHOSEN = "chosen_question"
BLOCK_RESPONSE = "response"
BLOCK_RUBRIC = "rubric"
BLOCK_VISIBILITY = "visibility"
BLOCK_SCORE = "score"
BLOCK_REASON = "reason"
BLOCK_ASSISTANT = "assistant"
BLOCK_SHARE = "share"
BLOCK_PER_DAY = "per_day"
BLOCK_SHOWS = "shows"
BLOCK_ALERTS_HERE = "alerts_here"
BLOCK_ALERTS_TO = "alerts_to"
BLOCK_FLOOR = "floor"

BLOCK_NAME = "name"
BLOCK_PROMPT = "prompt"
BLOCK_PROMPT_REST = "prompt_rest"

# Blocks of a verdict that are looked up when it is amended.
BLOCK_JUSTIFICATION = "justification"
BLOCK_LOW_JUSTIFICATION = "low_justification"  # shown besides the highest rating's if the ratings are split
BLOCK_QUOTED_QUESTION = "quoted_question"
BLOCK_AMENDMENT = "amendment"
BLOCK_REPLACED = "replaced"

METADATA_EVENT = "slack_judge_case"
METADATA_DIGEST = "slack_judge_digest"
METADATA_ALERT = "slack_judge_alert"


def of(block_id: str, which: int | str | None) -> str:
    """The id of an input in a window that shows one case or assistant after another.

    Slack keeps typed text while an id stays.
    """
    return f"{block_id}-{which}"
