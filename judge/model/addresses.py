"""How a server's address is named in a message: without anything that can hold a user, a password or a key."""

import re
from urllib.parse import urljoin, urlsplit


def server_name(base_url: str) -> str:
    """Host and port alone."""
    parts = urlsplit(base_url)
    return f"{parts.hostname or 'unknown'}{f':{parts.port}' if parts.port else ''}"


def origin(base_url: str, location: str = "") -> str:
    """Scheme, host and port of `location`, relative or not, as a server wrote it; "" where they are none to print."""
    try:
        parts = urlsplit(urljoin(base_url, location))
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    host = parts.hostname or ""
    named = f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}"
    return named if re.fullmatch(r"[a-z]{1,10}://(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]+\])(?::\d+)?", named) else ""
