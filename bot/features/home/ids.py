"""What Slack sends back from this feature: ids of windows, buttons and inputs."""

VIEW_HOME = "home"

ACTION_HOME_JUDGE = "judge_something"
ACTION_HOME_REFRESH = "refresh_home"
ACTION_HOME_VISIBILITY = "choose_visibility"

ACTION_RECENT_OLDER = "show_older_cases"
