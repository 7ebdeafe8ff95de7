"""What the tests' clients of the `openai` package share."""

import ssl
from functools import cache

import httpx2
import openai


@cache
def trusted() -> ssl.SSLContext:
    """The TLS context; made once, because it takes 30 ms and each client would make its own."""
    return httpx2.create_ssl_context()


def http_client() -> httpx2.AsyncClient:
    return openai.DefaultAsyncHttpxClient(verify=trusted())
