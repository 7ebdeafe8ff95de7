"""A PostgreSQL of the tests' own: a cluster in a temporary folder, on a free port of this machine, gone afterwards."""

import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
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


class Cluster:
    """A server that can be killed and started again.

    Attributes:
        server: Its address, without a database name.
    """

    def __init__(self, binaries: Path, folder: Path, user: pwd.struct_passwd) -> None:
        self._binaries = binaries
        self._folder = folder
        self._user = user
        self._port = free_port()
        self.server = f"postgresql+asyncpg://judge@127.0.0.1:{self._port}"
        self._run("initdb", "--auth=trust", "--username=judge", "--no-sync")

    def start(self) -> None:
        """Starts it, and returns once it takes connections."""
        options = f"-p {self._port} -k '' -c listen_addresses=127.0.0.1 -c max_connections=200"
        self._run("pg_ctl", "start", "-w", "-l", str(self._folder / "log"), "-o", options)

    def stop(self) -> None:
        """Ends it, if it runs."""
        if self.pids():
            self._run("pg_ctl", "stop", "-w", "-m", "immediate")

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to all its processes at once: SIGKILL, or SIGSTOP and SIGCONT."""
        pids = self.pids()
        for pid in pids:
            os.kill(pid, number)
        if number == signal.SIGKILL:
            while any(_is_running(pid) for pid in pids):
                time.sleep(0.01)
            # Its process stays in the list until somebody takes note of its end, and would be taken to be running.
            (self._folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def pids(self) -> list[int]:
        """Its processes, the one that started the others first; none if it does not run."""
        try:
            postmaster = int((self._folder / "data" / "postmaster.pid").read_text().split()[0])
            children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        except FileNotFoundError:
            return []
        return [postmaster, *map(int, children)]

    def _run(self, name: str, *arguments: str) -> None:
        command = [str(self._binaries / name), "-D", str(self._folder / "data"), *arguments]
        user = self._user
        subprocess.run(command, check=True, capture_output=True, cwd=self._folder, user=user.pw_uid, group=user.pw_gid)


def _is_running(pid: int) -> bool:
    """Whether a process is there, and more than what its parent has not yet taken note of."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@contextmanager
def cluster(binaries: Path) -> Iterator[Cluster]:
    """A running server; PostgreSQL refuses to run as root."""
    user = pwd.getpwnam("postgres") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    with tempfile.TemporaryDirectory(prefix="slack-judge-pg-") as folder:
        os.chown(folder, user.pw_uid, user.pw_gid)
        made = Cluster(binaries, Path(folder), user)
        made.start()
        try:
            yield made
        finally:
            made.stop()


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
