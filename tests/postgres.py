"""A PostgreSQL of the tests' own: a cluster in a temporary folder, on a free port of this machine, gone afterwards."""

import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ABSENT = "PostgreSQL is not installed (Debian, Ubuntu: apt install postgresql)"


def find_binaries() -> Path | None:
    """Where `initdb` and `pg_ctl` are; Debian keeps them off the PATH."""
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).resolve().parent
    newest = max(glob.glob("/usr/lib/postgresql/*/bin/initdb"), default=None)
    return Path(newest).parent if newest else None


@contextmanager
def cluster(binaries: Path) -> Iterator[str]:
    """The address of a running server, without a database name; PostgreSQL refuses to run as root."""
    user = pwd.getpwnam("postgres") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    with tempfile.TemporaryDirectory(prefix="slack-judge-pg-") as folder:
        os.chown(folder, user.pw_uid, user.pw_gid)
        data, port = Path(folder, "data"), free_port()

        def run(name: str, *arguments: str) -> None:
            command = [str(binaries / name), "-D", str(data), *arguments]
            subprocess.run(command, check=True, capture_output=True, cwd=folder, user=user.pw_uid, group=user.pw_gid)

        run("initdb", "--auth=trust", "--username=judge", "--no-sync")
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c max_connections=200"
        run("pg_ctl", "start", "-w", "-l", str(Path(folder, "log")), "-o", options)
        try:
            yield f"postgresql+asyncpg://judge@127.0.0.1:{port}"
        finally:
            run("pg_ctl", "stop", "-w", "-m", "immediate")


def new_database(server: str, binaries: Path) -> str:
    """The URL of a new, empty database."""
    name = f"t{uuid.uuid4().hex}"
    port = server.rpartition(":")[2]
    subprocess.run(
        [str(binaries / "createdb"), "-h", "127.0.0.1", "-p", port, "-U", "judge", name],
        check=True,
        capture_output=True,
    )
    return f"{server}/{name}"


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
