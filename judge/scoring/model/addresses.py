"""Where requests go: OpenAI's own address, and the paths at any server."""

import re
from functools import cache
from urllib.parse import urlsplit

OPENAI_URL = "https://api.openai.com/v1"
CHAT = "/chat/completions"
DECISIONS = "/decisions"
_OPENAIS = re.compile(r"(?:.+\.)?(?:openai\.com|azure\.[a-z]+|azure-api\.net)")


@cache
def is_openais(base_url: str) -> bool:
    """Whether OpenAI or Azure serves this address."""
    return bool(_OPENAIS.fullmatch(urlsplit(base_url).hostname or ""))
