"""What Slack sends back from this feature: ids of windows, buttons and inputs."""

ACTION_LOW_LIST = "list_low"
ACTION_LOW_FILE = "send_low_file"
ACTION_DIGEST_DETAILS = "show_digest_details"

METADATA_DIGEST = "slack_judge_digest"
