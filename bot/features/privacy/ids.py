"""What Slack sends back from this feature."""

ACTION_FORGET = "forget"
