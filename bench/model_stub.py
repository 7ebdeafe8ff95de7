"""A model server that costs almost nothing: it gives every request of a kind the same answer after
a fixed time.

The benchmarks run it in its own process: `python -m bench.model_stub LATENCY_S` prints its address
and serves until its standard input closes.
"""

import asyncio
import json
import sys

from judge import load_rubric

ANSWER = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "stub",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {
                    "role": "assistant",
                    "content": "score: 4\nThe response answers the question well.",
                },
            }
        ],
        "usage": {"prompt_tokens": 400, "completion_tokens": 12, "total_tokens": 412},
    }
).encode()
_LEVELS = [
    {"label": str(score), "value": score, "probability": float(score == 4)} for score in range(6)
]
_POINTS = [
    {"type": "predicate", "name": name, "probability": 0.9}
    for name in load_rubric("additive-5").criteria
]
_USAGE = {"input_tokens": 700, "output_tokens": 7, "total_tokens": 707}
_DETAILS = {"input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0}}
_DETAILS |= {"output_tokens_details": {"reasoning_tokens": 0}}
DECISION = json.dumps(
    {
        "answers": [
            {
                "type": "score",
                "name": "score",
                "score": 4.0,
                "confidence": 1.0,
                "probabilities": _LEVELS,
            },
            *_POINTS,
        ],
        "model": "stub",
        "usage": _USAGE | _DETAILS,
    }
).encode()
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
_RESPONSES = {
    path: _HEAD % (len(body), body)
    for path, body in ((b"completions", ANSWER), (b"decisions", DECISION))
}


class Stub(asyncio.Protocol):
    """One connection; a request is complete when its body has the length in Content-Length."""

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        if not end:
            return
        fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:])
        if len(body) >= int(fields[b"content-length"]):
            self._received = b""
            path = head.partition(b" HTTP/")[0].rpartition(b"/")[2]
            asyncio.get_running_loop().call_later(self._latency_s, self._answer, _RESPONSES[path])

    def _answer(self, response: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(response)


async def serve(latency_s: float) -> None:
    """Serves until standard input closes, as it does when the benchmark ends, for whatever reason."""
    server = await asyncio.get_running_loop().create_server(lambda: Stub(latency_s), "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
