"""Where requests go: OpenAI's own address, and the paths at any server."""

OPENAI_URL = "https://api.openai.com/v1"
CHAT = "/chat/completions"
DECISIONS = "/decisions"
