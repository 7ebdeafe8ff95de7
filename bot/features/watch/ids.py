"""What Slack sends back from this feature: ids of windows, buttons and inputs."""

VIEW_WATCH = "set_watch"

ACTION_WATCH = "change_watch"
ACTION_WATCH_END = "end_watch"
ACTION_WATCH_OFF = "end_watch_in_channel"
ACTION_TEST_ALERT = "send_test_alert"
ACTION_WATCH_MORE = "show_all_of_watch"
ACTION_RELEASE = "mark_release"
ACTION_WEEKLY = "post_weekly"
ACTION_ONLY_ASKED = "only_when_asked"

BLOCK_ASSISTANT = "assistant"
BLOCK_SHARE = "share"
BLOCK_PER_DAY = "per_day"
BLOCK_SHOWS = "shows"
BLOCK_ALERTS_HERE = "alerts_here"
BLOCK_ALERTS_TO = "alerts_to"
BLOCK_FLOOR = "floor"
BLOCK_LOW = "alerts_low"
BLOCK_ALSO = "also"

METADATA_ALERT = "slack_judge_alert"
