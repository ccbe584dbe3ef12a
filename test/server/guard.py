"""The real server for tests: `xila-guard webhook` over TLS on free loopback ports, gone when the test ends.

    with Guard(policy={"team-a": "team-a"}) as guard:
        answer = guard.post(review, "/validate/volcano")
        assert answer.allowed

The binary is XILA_GUARD_BINARY. At the end of the block the server must have lived until it was told to end, must end with
exit code 0, and no sanitizer may have said a word.
"""
import atexit
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from client import HOST, PATIENCE, Client, parse_metrics
from inputs import COMMON, ROOT, policy_text

sys.path.insert(0, str(ROOT / "test" / "cluster"))
from apiserver import Certificates, wait_until  # noqa: E402  (found by the line above)

BINARY = os.environ.get("XILA_GUARD_BINARY") or str(ROOT / "build" / "release" / "xila-guard")

# Sanitizers keep freed memory back and slow all down: measurements mean nothing under them.
SANITIZED = bool(os.environ.get("XILA_GUARD_SANITIZE"))
SANITIZER_WORDS = ("Sanitizer", "runtime error:")


@functools.cache
def shared_folder():
    """A folder for this process, removed at its end."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="xila-guard-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@functools.cache
def authority():
    """The CA of every server that brings no certificate of its own."""
    return Certificates(shared_folder() / "ca")


@functools.cache
def server_pair():
    """(certificate, key) by authority(), for loopback and the name of a Service."""
    return authority().issue("tls", "/CN=xila-guard", (f"IP:{HOST}", "DNS:localhost", "DNS:xila-guard.xila-system.svc"))


def clean_environment():
    """The environment without what the server would read in it: flags, and a cluster around the tests."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("XILA_GUARD_", "KUBERNETES_"))}


class Guard:
    """A running server; a context manager.

    profiles, policy   a file to use where it is; a file's text; for the policy also the map of namespaces to tenants
    pair               (certificate, key) to use where they are
    trust              the CA file that clients trust
    flags, env         as on the command line and in the environment
    launcher           a command that executes its arguments, put before the binary
    """

    def __init__(self, profiles=None, policy=None, pair=None, trust=None, flags=(), env=None, launcher=(),
                 shutdown_delay="0s"):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="xila-guard-"))
        if policy is None:
            policy = {"team-a": "team-a"}
        if isinstance(policy, dict):
            policy = policy_text(policy)
        self.profiles = self._file("profiles.yaml", (COMMON / "profiles.yaml").read_text() if profiles is None else profiles)
        self.policy = self._file("policy.yaml", policy)
        self.certificate, self.key = pair or self._copies(server_pair())
        self.trust = trust or authority().ca
        self.command = [*launcher, BINARY, "webhook", "--bind-address", HOST, "--secure-port", "0",
                        "--metrics-bind-address", f"{HOST}:0", "--tls-cert-file", self.certificate,
                        "--tls-private-key-file", self.key, "--profiles", self.profiles, "--policy", self.policy,
                        "--shutdown-delay", shutdown_delay, "--log-format", "json", *flags]
        self.env = clean_environment() | (env or {})
        self.lines = []  # of stderr: objects, and text where a line is no JSON
        self.is_read = threading.Event()  # cleared: nobody reads the server's stderr
        self.is_read.set()
        self._news = threading.Condition()
        self._ended = False
        self.process = None
        self.stop_asked = False
        self.port = self.operations_port = None

    def _file(self, name, content):
        """The path itself, or a new file in the server's folder with this text."""
        if isinstance(content, pathlib.Path):
            return content
        path = self.folder / name
        path.write_text(content)
        return path

    def _copies(self, pair):
        return [pathlib.Path(shutil.copy(source, self.folder)) for source in pair]

    def __enter__(self):
        try:
            self.start()
            self.await_serving()
            wait_until("the server is ready", lambda: self.get("/readyz").status == 200, PATIENCE, 0.002)
        except BaseException:
            self._end(signal.SIGKILL)
            raise
        return self

    def __exit__(self, kind, *_):
        lived = self.process.poll() is None
        asked = self.stop_asked
        code = self.stop()
        said = [line for line in self.lines if isinstance(line, str) and any(word in line for word in SANITIZER_WORDS)]
        shutil.rmtree(self.folder, ignore_errors=True)
        if kind is None:
            assert lived or asked, f"the server ended by itself with {code}:\n{self.tail()}"
            assert code == 0, f"exit code {code}:\n{self.tail()}"
            assert not said, self.tail(200)

    # The process

    def set_flag(self, flag, value=None):
        """Gives a flag another value before the start; without a value the flag is left out."""
        at = self.command.index(flag)
        self.command[at:at + 2] = [] if value is None else [flag, value]

    def start(self):
        """Starts the process, and does not wait."""
        self.stop_asked = False
        self.process = subprocess.Popen([str(part) for part in self.command], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, env=self.env)
        self._reader = threading.Thread(target=self._read, args=(self.process.stderr,), daemon=True)
        self._reader.start()

    def await_serving(self):
        serving = self.wait_for_log("serving")
        self.port, self.operations_port = serving["port"], serving["operations_port"]

    def _read(self, stream):
        for raw in stream:
            self.is_read.wait()
            text = raw.decode(errors="replace").rstrip("\n")
            try:
                line = json.loads(text)
            except ValueError:
                line = text
            with self._news:
                self.lines.append(line if isinstance(line, dict) else text)
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()
        stream.close()

    def alive(self):
        return self.process.poll() is None

    def terminate(self):
        """Asks the server to end, and does not wait."""
        self.stop_asked = True
        self.process.send_signal(signal.SIGTERM)

    def stop(self):
        """Ends the server as Kubernetes does, and returns its exit code."""
        return self._end(signal.SIGTERM)

    def _end(self, how):
        if self.process is None:
            return None
        self.is_read.set()
        if self.alive():
            self.stop_asked = True
            self.process.send_signal(how)
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = f"none within {PATIENCE} s"
            self.process.wait()
        self._reader.join(PATIENCE)
        return code

    def wait(self, seconds=PATIENCE):
        """Waits for a server that ends by itself; returns its exit code."""
        code = self.process.wait(seconds)
        self._reader.join(PATIENCE)
        return code

    # What it says

    def logged(self, event, **fields):
        """The log lines of an event, with these fields."""
        with self._news:
            return [line for line in self.lines if isinstance(line, dict) and line.get("event") == event
                    and all(line.get(key) == value for key, value in fields.items())]

    def wait_for_log(self, event, count=1, **fields):
        """Returns the `count`-th line of an event as soon as it is there."""
        with self._news:
            self._news.wait_for(lambda: self._ended or len(self.logged(event, **fields)) >= count, PATIENCE)
            lines = self.logged(event, **fields)
        if len(lines) < count:
            raise AssertionError(f"no log line {event!r} {fields}; the log ends with:\n{self.tail()}")
        return lines[count - 1]

    def tail(self, lines=30):
        return "\n".join(str(line) for line in self.lines[-lines:])

    # Requests

    def context(self, pair=None, trust=None):
        """A client's TLS settings; with `pair` it shows a certificate."""
        context = ssl.create_default_context(cafile=str(trust or self.trust))
        if pair:
            context.load_cert_chain(*map(str, pair))
        return context

    def client(self, **tls):
        return Client(self.port, self.context(**tls))

    def post(self, body, path="/validate/volcano", content_type="application/json", **tls):
        """One review over a connection of its own."""
        with self.client(**tls) as client:
            return client.post(body, path, content_type)

    def get(self, path):
        """From the plain listener: /readyz, /healthz, /metrics."""
        with Client(self.operations_port) as client:
            return client.request("GET", path)

    def raw(self, plain=False):
        """A connected socket, with TLS unless `plain`."""
        opened = socket.create_connection((HOST, self.port), PATIENCE)
        return opened if plain else self.context().wrap_socket(opened, server_hostname="localhost")

    def served_certificate(self):
        """The leaf that a new handshake shows, as PEM."""
        return ssl.get_server_certificate((HOST, self.port))

    def metrics(self):
        """{(name, ((label, value), ...)): number} of every series."""
        return parse_metrics(self.get("/metrics").text)

    def metric(self, name, **labels):
        """The sum of the series of that name with these labels; 0 without one."""
        return sum(value for (series, pairs), value in self.metrics().items()
                   if series == name and labels.items() <= dict(pairs).items())

    def wait_for_metric(self, name, holds, **labels):
        return wait_until(f"{name}{labels} as wanted", lambda: holds(self.metric(name, **labels)), PATIENCE)

    # What it uses

    def resident_bytes(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"^VmRSS:\s+(\d+) kB", text, re.M)[1]) << 10

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_guard(*arguments, env=None, seconds=PATIENCE):
    """Runs a command of the binary to its end: (exit code, stdout, stderr)."""
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, timeout=seconds, env=clean_environment() | (env or {}))
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def moment(seconds):
    """For the few waits that nothing announces, such as a time in which nothing may happen."""
    time.sleep(seconds)
