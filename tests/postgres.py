"""A PostgreSQL for the tests: a cluster in a temporary folder, on a free port of this machine,
removed afterwards.
"""

import contextlib
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_DISCONNECT = """
SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
_DELETE = """
DO $$ DECLARE each record; BEGIN
    FOR each IN SELECT oid::regclass AS name, relkind AS kind FROM pg_class
            WHERE relnamespace = 'public'::regnamespace AND relname <> 'alembic_version' LOOP
        IF each.kind = 'r' THEN EXECUTE format('DELETE FROM %s', each.name);
        ELSIF each.kind = 'S' THEN PERFORM setval(each.name, 1, false);
        END IF;
    END LOOP;
END $$
"""
ABSENT = "PostgreSQL is not installed (Debian, Ubuntu: apt install postgresql)"


def find_binaries() -> Path | None:
    """The folder of `initdb` and `pg_ctl`, or None; Debian keeps them off the PATH."""
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).resolve().parent
    newest = max(glob.glob("/usr/lib/postgresql/*/bin/initdb"), default=None)
    return Path(newest).parent if newest else None


class Cluster:
    """A server that can be killed and started again.

    Attributes:
        server: Its URL without a database name.
    """

    def __init__(self, binaries: Path, folder: Path, user: pwd.struct_passwd) -> None:
        self._binaries = binaries
        self._folder = folder
        self._user = user
        self._options = "-c listen_addresses=127.0.0.1"
        self.port = free_port()
        self.server = f"postgresql+asyncpg://judge@127.0.0.1:{self.port}"
        self._run("initdb", "--auth=trust", "--username=judge", "--no-sync")

    @property
    def certificate(self) -> Path:
        """The certificate of a guarded server."""
        return self._folder / "server.crt"

    def guard(self) -> None:
        """From the next start on, requires passwords of all roles but `judge`, and offers TLS.

        The role `tls_only` is refused without TLS. The self-signed certificate is for 127.0.0.1 and
        not for 127.0.0.2, where the server also listens.
        """
        key = self._folder / "server.key"
        making = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=judge"
        named = "-addext subjectAltName=IP:127.0.0.1"
        self._call(*f"{making} {named} -keyout {key} -out {self.certificate}".split())
        rules = (
            "host all judge 127.0.0.0/8 trust",
            "hostnossl all tls_only all reject",
            "host all all all scram-sha-256",
        )
        (self._folder / "data" / "pg_hba.conf").write_text("\n".join(rules) + "\n")
        tls = f"-c ssl=on -c ssl_cert_file={self.certificate} -c ssl_key_file={key}"
        self._options = f"-c listen_addresses=127.0.0.1,127.0.0.2 {tls}"

    def start(self) -> None:
        """Starts the server and returns once it accepts connections."""
        # Tests kill its processes, but never cut the machine's power: nothing has to reach the
        # disk.
        options = f"-p {self.port} -k '' {self._options} -c max_connections=200 -c fsync=off"
        self._run("pg_ctl", "start", "-w", "-l", str(self._folder / "log"), "-o", options)

    def stop(self) -> None:
        """Stops the server if it runs."""
        if self.pids():
            self._run("pg_ctl", "stop", "-w", "-m", "immediate")

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to all its processes at once: SIGKILL, or SIGSTOP and SIGCONT."""
        pids = self.pids()
        for pid in pids:
            # One of them may have ended by itself since, as autovacuum's do.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        if number == signal.SIGKILL:
            while any(_is_running(pid) for pid in pids):
                time.sleep(0.01)
            # A killed process that no parent has waited for still has its id, and would seem to be
            # running.
            (self._folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def sql(self, *statements: str, database: str = "postgres") -> str:
        """The output of psql for these statements, run as `judge`."""
        commands = [part for statement in statements for part in ("-c", statement)]
        return self._ask("psql", "-d", database, "-qAtX", "-v", "ON_ERROR_STOP=1", *commands)

    def dump(self, database: str) -> str:
        """Everything in a database, as SQL."""
        lines = self._ask("pg_dump", database).splitlines()
        # has a new key each time
        return "\n".join(line for line in lines if not line.startswith("\\"))

    def empty(self, database: str) -> None:
        """Ends all connections to a database and deletes its rows: a hundredth of the time that a
        TRUNCATE takes.
        """
        self.sql(_DISCONNECT, "SET session_replication_role = replica", _DELETE, database=database)

    def pids(self) -> list[int]:
        """The ids of its processes, the parent first; none if it does not run."""
        try:
            postmaster = int((self._folder / "data" / "postmaster.pid").read_text().split()[0])
            children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        except FileNotFoundError:
            return []
        return [postmaster, *map(int, children)]

    def _ask(self, name: str, *arguments: str) -> str:
        program = [str(self._binaries / name), "-h", "127.0.0.1", "-p", str(self.port)]
        command = [*program, "-U", "judge", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def _run(self, name: str, *arguments: str) -> None:
        self._call(str(self._binaries / name), "-D", str(self._folder / "data"), *arguments)

    def _call(self, *command: str) -> None:
        who: dict[str, Any] = {"user": self._user.pw_uid, "group": self._user.pw_gid}
        subprocess.run(command, check=True, capture_output=True, cwd=self._folder, **who)


def _is_running(pid: int) -> bool:
    """Whether a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def cluster(binaries: Path, *, is_guarded: bool = False) -> Iterator[Cluster]:
    """A running server, guarded or not.

    As root it runs under `postgres`, because PostgreSQL refuses to run as root.
    """
    user = pwd.getpwnam("postgres") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    with tempfile.TemporaryDirectory(prefix="slack-judge-pg-") as folder:
        os.chown(folder, user.pw_uid, user.pw_gid)
        made = Cluster(binaries, Path(folder), user)
        if is_guarded:
            made.guard()
        made.start()
        try:
            yield made
        finally:
            made.stop()


def new_database(server: str) -> str:
    """The URL of a new database."""
    name = f"t{uuid.uuid4().hex}"
    port = server.rpartition(":")[2]
    binaries = find_binaries()
    assert binaries is not None
    command = [str(binaries / "createdb"), "-h", "127.0.0.1", "-p", port, "-U", "judge", name]
    subprocess.run(command, check=True, capture_output=True)
    return f"{server}/{name}"


_HELD: list[socket.socket] = []


def free_port() -> int:
    """A port where nothing listens; on Linux nobody else is given it as long as the tests run."""
    free = socket.socket()
    free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    free.bind(("127.0.0.1", 0))
    port = int(free.getsockname()[1])
    if (
        sys.platform == "linux"
    ):  # bound alone, it leaves the port to a server that is to listen there
        _HELD.append(free)
    else:
        free.close()
    return port
