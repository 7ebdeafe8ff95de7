"""The proxies of `deploy/` in front of the app: they pass on Slack's requests, and drop incomplete
ones.
"""

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.patience import ONLY_A_HANG_S
from tests.postgres import free_port
from tests.slack.test_http_front import a_command, open_front, request, signed, sized
from tests.streams import heard

DEPLOY = Path(__file__).parents[2] / "deploy"
HALF = b"POST /slack/events HTTP/1.1\r\nHost: localhost\r\nX-Half: "


def caddy(folder: Path, port: int, app_port: int) -> list[str]:
    config = (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
    config = config.replace("slack-judge.example.org {", f"http://localhost:{port} {{").replace(
        "3000", str(app_port)
    )
    (folder / "Caddyfile").write_text(
        "{\n\tadmin off\n" + config.partition("{\n")[2], encoding="utf-8"
    )
    return ["caddy", "run", "--config", str(folder / "Caddyfile")]


def nginx(folder: Path, port: int, app_port: int) -> list[str]:
    config = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    config = "\n".join(line for line in config.splitlines() if "ssl_certificate" not in line)
    config = (
        config.replace("443 ssl", str(port))
        .replace("example.org", "localhost")
        .replace("3000", str(app_port))
    )
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    http = (
        "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
        + f"access_log off;\n{config}\n"
    )
    main = f"daemon off;\npid {folder}/pid;\nevents {{}}\nhttp {{\n{http}}}\n"
    (folder / "nginx.conf").write_text(main, encoding="utf-8")
    return ["nginx", "-c", str(folder / "nginx.conf"), "-p", str(folder), "-e", "stderr"]


PROXIES = {"caddy": caddy, "nginx": nginx}


@asynccontextmanager
async def running(name: str, folder: Path, app_port: int) -> AsyncIterator[int]:
    port = free_port()
    command = PROXIES[name](folder, port, app_port)
    nowhere = subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*command, stdout=nowhere, stderr=nowhere)
    try:
        async with asyncio.timeout(ONLY_A_HANG_S):
            while process.returncode is None:
                try:
                    _, writer = await asyncio.open_connection("localhost", port)
                except OSError:
                    await asyncio.sleep(0.05)
                else:
                    writer.close()
                    break
        yield port
    finally:
        process.terminate()
        await process.wait()


async def ask(port: int, sent: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("localhost", port)
    writer.write(sent)
    return await heard((reader, writer))


@pytest.mark.slow
@pytest.mark.parametrize("name", PROXIES)
async def test_a_proxy_passes_on_slacks_requests_and_drops_half_sent_ones(
    name: str, tmp_path: Path
) -> None:
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed; apt-get install caddy nginx-light")
    body = a_command()
    async with open_front() as front, running(name, tmp_path, front.address[1]) as port:
        whole = request({"Host": "localhost"} | signed(body) | sized(body)) + body
        half = await asyncio.open_connection("localhost", port)
        half[1].write(HALF)
        assert b"heard" in await ask(port, whole)
        assert b" 404 " in await ask(port, request({"Host": "localhost"}, "GET /metrics"))
        large = bytes(2**20 + 1)
        said = await ask(port, request({"Host": "localhost"} | sized(large)) + large)
        assert int(said.split()[1]) in {
            401,
            413,
            502,
        }  # the app or the proxy refuses it, whichever is first
        said = await heard(half)  # would wait for ever if the proxy did not drop the connection
        assert b" 200 " not in said
