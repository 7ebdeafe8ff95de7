"""What Slack sends back from this feature: ids of windows, buttons and inputs."""

VIEW_RUBRIC = "save_rubric"

ACTION_RUBRIC = "rubric-"  # followed by use, view or edit
ACTION_RUBRIC_ADVANCED = "show_prompt"
ACTION_RUBRIC_DELETE = "delete_rubric"
ACTION_RUBRIC_USE = "use_rubric_here"

VIEW_REFERENCE = "save_reference"
BLOCK_REFERENCE = "reference"  # followed by the number of the field

BLOCK_NAME = "name"
BLOCK_LOOKS_FOR = "looks_for"
BLOCK_PROMPT = "prompt"
