"""Action ids of topics."""

ACTION_TOPICS = "show_topics"
ACTION_WRITE = "show_what_to_write"
ACTION_FILE = "send_what_to_write"
