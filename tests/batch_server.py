"""The scriptable model server, with the batch endpoints as OpenAI documents them and strict checks of their input.

async with BatchServer() as server:
    server.script("score: 4\nGood.")                          # as for a direct request
    server.courses = [Course("expired", answered=2), Course()]  # for each batch in turn; the last is for all others
    server.hold = "created"                                     # that step is not answered until this is "" again

A batch is paid for once it is created, and advances one status with each poll. Its files exist once it has ended.
`requests` are the paid requests to the model, in batches or direct.

Source: https://platform.openai.com/docs/guides/batch, https://platform.openai.com/docs/api-reference/batch
"""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.model_server import Answer, Failure, ModelServer, to_completion, to_error
from tests.patience import ONLY_A_HANG_S

MOST_REQUESTS, MOST_BYTES = 50_000, 200_000_000


@dataclass(frozen=True)
class Course:
    """How a batch ends, and after how many answers; its output lines are never in the order of the input."""

    ends: str = "completed"
    answered: int | None = None
    polls: int = 1  # how many polls find it in progress
    message: str = ""  # the error message of a failed batch
    is_twice: bool = False  # whether each line is there twice, the second time with another answer
    has_stranger: bool = False  # whether there are lines with unknown ids, and one that is nested deeply
    is_cut: bool = False  # whether the file ends within its last line


class BatchServer(ModelServer):
    """Attributes:
    direct: The number of direct requests.
    batches: All batches, as the API returns them, oldest first.
    sent: The lines of each file that is in a batch.
    sizes: The bytes of each uploaded file.
    gate: If set, uploads wait for it; as with `hold`, `held` returns once one waits.
    hold: The step that is not answered: "upload", "create", "poll", "uploaded" or "created" after these are done, or
        "download" in the middle of one.
    lose: The step at which the connection breaks, once.
    faults: By step, the errors to answer with in turn; None means the normal answer.
    has_metadata: Whether the server keeps the metadata of batches.
    stale_lists: How many requests for the list of batches still get an empty list.
    """

    def __init__(self) -> None:
        super().__init__()
        self.courses: list[Course] = [Course()]
        self.batches: dict[str, dict[str, Any]] = {}
        self.sent: list[list[dict[str, Any]]] = []
        self.sizes: list[int] = []
        self.gate: asyncio.Event | None = None
        self.hold = self.lose = ""
        self.faults: dict[str, list[web.HTTPException | None]] = {}
        self.has_metadata = True
        self.stale_lists = 0
        self._files: dict[str, bytes] = {}
        self._polls: dict[str, int] = {}
        self._results: dict[str, dict[str, Any]] = {}
        self._held = asyncio.Event()

    @property
    def direct(self) -> int:
        return len(self.headers)

    async def held(self) -> None:
        """Returns once a client waits at the held step."""
        await asyncio.wait_for(self._held.wait(), ONLY_A_HANG_S)
        self._held.clear()

    def add_others(self, count: int) -> None:
        """Adds other batches of the same account, newer than all so far."""
        for number in range(count):
            other = {"id": f"other_{number}", "object": "batch", "status": "completed", "created_at": 1}
            self.batches[f"other_{number}"] = other | {
                "input_file_id": "theirs",
                "endpoint": "",
                "completion_window": "",
            }

    def add_routes(self, app: web.Application) -> None:
        app._client_max_size = MOST_BYTES
        app.router.add_post("/v1/files", self._upload)
        app.router.add_get("/v1/files/{id}/content", self._content)
        app.router.add_post("/v1/batches", self._create)
        app.router.add_get("/v1/batches", self._list)
        app.router.add_get("/v1/batches/{id}", self._retrieve)
        app.router.add_post("/v1/batches/{id}/cancel", self._cancel)

    async def _step(self, name: str, request: web.Request) -> None:
        if fault := (self.faults.get(name) or [None]).pop(0):
            raise fault
        if self.lose == name:
            self.lose = ""
            assert request.transport is not None
            request.transport.abort()
        if self.hold == name:
            self._held.set()
            await self._stopping.wait()

    async def _upload(self, request: web.Request) -> web.Response:
        await self._step("upload", request)
        form = await request.post()
        file = form["file"]
        if form["purpose"] != "batch" or not isinstance(file, web.FileField) or not file.filename.endswith(".jsonl"):
            return _refusal("a file of requests has the purpose batch and ends in .jsonl")
        content = file.file.read()
        self.sizes.append(len(content))
        if self.gate:
            self._held.set()
            await self.gate.wait()
        file_id = self._keep(content)
        await self._step("uploaded", request)
        fields = {"id": file_id, "object": "file", "bytes": len(content), "created_at": 1, "status": "processed"}
        return web.json_response(fields | {"filename": file.filename, "purpose": "batch"})

    async def _create(self, request: web.Request) -> web.Response:
        await self._step("create", request)
        asked = await request.json()
        metadata: Mapping[str, str] = asked.get("metadata") or {}
        is_fine = (
            asked["completion_window"] == "24h"
            and asked["endpoint"] == "/v1/chat/completions"
            and asked["input_file_id"] in self._files
            and len(metadata) <= 16
            and all(len(name) <= 64 and len(value) <= 512 for name, value in metadata.items())
        )
        if not is_fine:
            return _refusal("not a batch")
        batch_id = f"batch_{len(self.batches) + 1}"
        course = self.courses.pop(0) if len(self.courses) > 1 else self.courses[0]
        self._polls[batch_id] = course.polls
        self._results[batch_id] = self._run(self._files[asked["input_file_id"]], course)
        self.batches[batch_id] = {"id": batch_id, "object": "batch", "status": "validating", "created_at": 1, **asked}
        if not self.has_metadata:
            del self.batches[batch_id]["metadata"]
        await self._step("created", request)
        return web.json_response(self.batches[batch_id])

    async def _list(self, request: web.Request) -> web.Response:
        limit, after = int(request.query.get("limit", 20)), request.query.get("after")
        if not 1 <= limit <= 100:
            return _refusal("limit is from 1 to 100")
        newest_first = [] if self.stale_lists > 0 else list(self.batches.values())[::-1]
        self.stale_lists -= 1
        at = [each["id"] for each in newest_first].index(after) + 1 if after else 0
        page = newest_first[at : at + limit]
        ids = {"first_id": page[0]["id"], "last_id": page[-1]["id"]} if page else {}
        has_more = at + len(page) < len(newest_first)
        return web.json_response({"object": "list", "data": page, "has_more": has_more, **ids})

    async def _retrieve(self, request: web.Request) -> web.Response:
        await self._step("poll", request)
        batch = self.batches.get(request.match_info["id"])
        if batch is None:
            return _unknown("batch")
        self.advance(batch["id"])
        return web.json_response(batch)

    async def _cancel(self, request: web.Request) -> web.Response:
        batch = self.batches.get(request.match_info["id"])
        if batch is None:
            return _unknown("batch")
        if batch["status"] not in ("validating", "in_progress", "finalizing"):
            message = f"Cannot cancel a batch with status '{batch['status']}'."
            return web.json_response(to_error(Failure(409, message=message)), status=409)
        batch["status"] = "cancelling"
        return web.json_response(batch)

    async def _content(self, request: web.Request) -> web.StreamResponse:
        content = self._files.get(request.match_info["id"])
        if content is None:
            return _unknown("file")
        await self._step("file", request)
        if "download" in (self.hold, self.lose):
            response = web.StreamResponse(headers={"Content-Length": str(len(content))})
            await response.prepare(request)
            await response.write(content[: len(content) * 2 // 3])
            await self._step("download", request)
            return response
        return web.Response(body=content, content_type="application/octet-stream")

    def _keep(self, content: bytes) -> str:
        file_id = f"file-{len(self._files) + 1}"
        self._files[file_id] = content
        return file_id

    def advance(self, batch_id: str) -> None:
        batch, result = self.batches[batch_id], self._results[batch_id]
        match batch["status"]:
            case "validating" if result["status"] == "failed":
                batch |= result
            case "validating":
                counts = result["request_counts"] | {"completed": 0, "failed": 0}
                batch |= {"status": "in_progress", "request_counts": counts}
            case "in_progress" if self._polls[batch_id]:
                self._polls[batch_id] -= 1
            case "in_progress":
                batch |= {"status": "finalizing", "request_counts": result["request_counts"]}
            case "finalizing":
                batch |= result
            case "cancelling":
                batch |= result | {"status": "cancelled"}

    def _run(self, content: bytes, course: Course) -> dict[str, Any]:
        """Answers the requests, and returns the fields of the ended batch."""
        lines = [json.loads(line) for line in content.decode().split("\n")[:-1]]
        self.sent.append(lines)
        why = course.message or _problem(content, lines)
        if course.ends == "failed" or why:
            return {"status": "failed", "errors": {"object": "list", "data": [{"code": "invalid", "message": why}]}}
        done = lines if course.answered is None else lines[: course.answered]
        answers = [self._answer(line["custom_id"], line["body"]) for line in done]
        code = "batch_cancelled" if course.ends == "cancelled" else "batch_expired"
        left = [_line(line["custom_id"], None, {"code": code, "message": "Not done."}) for line in lines[len(done) :]]
        good = [line for line in answers if line["response"]["status_code"] == 200]
        bad = [line for line in answers if line["response"]["status_code"] != 200]
        counts = {"total": len(lines), "completed": len(good), "failed": len(bad)}
        result: dict[str, Any] = {
            "status": course.ends,
            "request_counts": counts,
            f"{course.ends}_at": int(time.time()),
        }
        if good:
            result["output_file_id"] = self._keep(b"".join(_to_output(good, course)))
        if bad or left:
            result["error_file_id"] = self._keep(b"".join(_to_output([*bad, *left], Course())))
        return result

    def _answer(self, custom_id: str, body: dict[str, Any]) -> dict[str, Any]:
        self.requests.append(body)
        reply = self.reply_to(body)
        if isinstance(reply, Failure):
            return _line(custom_id, {"status_code": reply.status, "request_id": "req-1", "body": to_error(reply)})
        assert isinstance(reply, str | Answer)
        completion = to_completion(body, Answer(reply) if isinstance(reply, str) else reply)
        return _line(custom_id, {"status_code": 200, "request_id": "req-1", "body": completion})


def _line(custom_id: str, response: object, error: object = None) -> dict[str, Any]:
    return {"id": "batch_req_1", "custom_id": custom_id, "response": response, "error": error}


def _to_output(lines: list[dict[str, Any]], course: Course) -> Iterator[bytes]:
    """The lines in reverse order, with escapes only for half a surrogate pair: U+2028 does not end a line of JSONL."""
    written = [
        json.dumps(line, ensure_ascii=False).encode(errors="backslashreplace") + b"\n" for line in reversed(lines)
    ]
    if course.has_stranger:
        for custom_id in ("of-somebody-else", f"{lines[0]['custom_id']}99"):
            yield json.dumps({**lines[0], "custom_id": custom_id}).encode() + b"\n"
        yield b"[" * 100_000 + b"]" * 100_000 + b"\n"
    if course.is_cut:
        written[-1] = written[-1][: len(written[-1]) // 2]
    yield from written
    if course.is_twice:
        yield from (line.replace(b"score: 4", b"score: 1") for line in written)


def _problem(content: bytes, lines: list[dict[str, Any]]) -> str:
    if len(lines) > MOST_REQUESTS or len(content) > MOST_BYTES:
        return "The file is too large."
    if len({line["custom_id"] for line in lines}) < len(lines):
        return "A custom_id stands twice."
    if len({line["body"]["model"] for line in lines}) != 1:
        return "All requests of a file must be to one model."
    if any((line["method"], line["url"]) != ("POST", "/v1/chat/completions") for line in lines):
        return "A line is of another endpoint than the batch."
    return ""


def _refusal(message: str) -> web.Response:
    return web.json_response(to_error(Failure(400, message=message)), status=400)


def _unknown(what: str) -> web.Response:
    return web.json_response(to_error(Failure(404, message=f"No {what} found")), status=404)
