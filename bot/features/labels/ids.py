"""What Slack sends back from this feature: ids of windows, buttons and inputs."""

VIEW_LABEL = "record_label"
VIEW_BLIND = "score_blind"
VIEW_COMPARED = "go_on_scoring_blind"

ACTION_BLIND = "score_a_few_blind"
ACTION_SKIP = "skip_case"
ACTION_ASKED = "score_as_asked"
ACTION_ASK = "ask_for_labels"
ACTION_STOP = "stop_asking_for_labels"

BLOCK_SCORE = "score"
BLOCK_REASON = "reason"
