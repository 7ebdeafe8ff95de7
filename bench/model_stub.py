"""A model server that costs almost nothing: it gives every request the same answer after a fixed time.

The benchmarks run it in its own process: `python -m bench.model_stub LATENCY_S` prints its address and serves
until its standard input closes.
"""

import asyncio
import json
import sys

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
                "message": {"role": "assistant", "content": "score: 4\nThe response answers the question well."},
            }
        ],
        "usage": {"prompt_tokens": 400, "completion_tokens": 12, "total_tokens": 412},
    }
).encode()
_RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER)


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
            asyncio.get_running_loop().call_later(self._latency_s, self._answer)

    def _answer(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(_RESPONSE)


async def serve(latency_s: float) -> None:
    """Serves until standard input closes, as it does when the benchmark ends, for whatever reason."""
    server = await asyncio.get_running_loop().create_server(lambda: Stub(latency_s), "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
