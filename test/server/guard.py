"""The real server for tests: `xila-guard webhook` over TLS on free loopback ports, gone when the test ends.

    with Guard(policy={"team-a": "team-a"}) as guard:
        answer = guard.post(review, "/validate/volcano")
        assert answer.allowed

The binary is XILA_GUARD_BINARY. At the end of the block the server must have lived until it was told to end, must end with
exit code 0, and no sanitizer may have said a word.
"""
import copy
import functools
import http.client
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "cluster"))
from apiserver import Certificates, wait_until  # noqa: E402  (found by the line above)

FIXTURES = ROOT / "test" / "fixtures"
REVIEWS = FIXTURES / "reviews"
CASES = FIXTURES / "cases"
COMMON = CASES / "_common"
BINARY = os.environ.get("XILA_GUARD_BINARY") or str(ROOT / "build" / "release" / "xila-guard")

# Sanitizers keep freed memory back and slow all down: measurements mean nothing under them.
SANITIZED = bool(os.environ.get("XILA_GUARD_SANITIZE"))
# For what happens at once on a quiet machine. Only a failing test waits that long.
PATIENCE = 60.0

HOST = "127.0.0.1"
FOUR_CHECKS = {"host-namespace", "host-path", "node-pin", "privileged"}
SANITIZER_WORDS = ("Sanitizer", "runtime error:")


@functools.cache
def shared_folder():
    """A folder for this process, removed at its end."""
    import atexit
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


def review(uid="00000000-0000-4000-8000-000000000001", namespace="team-a", **spec):
    """A CREATE of a Pod that keeps to the boundary, unless `spec` says otherwise."""
    body = copy.deepcopy(_ok_review())
    request = body["request"]
    request["uid"], request["namespace"] = uid, namespace
    request["object"]["metadata"]["namespace"] = namespace
    request["object"]["spec"].update(spec)
    return body


@functools.cache
def _ok_review():
    return json.loads((COMMON / "ok.json").read_text())


def crossing_review(uid="00000000-0000-4000-8000-000000000004", **spec):
    """A CREATE that violates FOUR_CHECKS."""
    body = review(uid, nodeName="gpu-7", hostNetwork=True, **spec)
    pod = body["request"]["object"]["spec"]
    pod["volumes"].append({"name": "root", "hostPath": {"path": "/"}})
    pod["containers"][0]["securityContext"] = {"privileged": True}
    return body


def clean_environment():
    """The environment without what the server would read in it: flags, and a cluster around the tests."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("XILA_GUARD_", "KUBERNETES_"))}


class Answer:
    """What came back for a request."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self):
        return self.body.decode()

    @property
    def response(self):
        return json.loads(self.body.decode())["response"]

    @property
    def allowed(self):
        return self.status == 200 and self.response["allowed"]

    @property
    def checks(self):
        """The ids of the checks that a denial names, each once."""
        return {cause["reason"] for cause in self.response.get("status", {}).get("details", {}).get("causes", ())}

    @property
    def message(self):
        return self.response["status"]["message"]

    def __repr__(self):
        return f"HTTP {self.status} {self.body[:1000]!r}"


class Client:
    """One keep-alive connection; it honours `Connection: close` and then begins another with its next request."""

    def __init__(self, port, context=None, timeout=PATIENCE):
        if context:
            self.connection = http.client.HTTPSConnection(HOST, port, context=context, timeout=timeout)
        else:
            self.connection = http.client.HTTPConnection(HOST, port, timeout=timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def request(self, method, path, body=None, headers=None):
        self.connection.request(method, path, body, headers or {})
        answer = self.connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())

    def post(self, body, path="/validate/volcano", content_type="application/json"):
        """Posts a review (bytes, text or an object) as the API server does."""
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        headers = {"Accept": "application/json, */*", "User-Agent": "kube-apiserver-admission"}
        if content_type is not None:
            headers["Content-Type"] = content_type
        return self.request("POST", path + "?timeout=10s", body, headers)

    def socket(self):
        """The connection's socket, opened if need be, for what http.client would not send."""
        if self.connection.sock is None:
            self.connection.connect()
        return self.connection.sock


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


def policy_text(tenants, **more):
    """A policy file with these static tenants."""
    return json.dumps({"apiVersion": "guard.xila.us/v1alpha1", "kind": "GuardPolicy", "tenants": {"namespaces": tenants}} | more, indent=1)


def profiles_text(*profiles):
    """A profiles file; each profile has a name, and what else it says."""
    selector = {"matchLabels": {"guard.xila.us/workload": "volcano"}}
    entries = [{"schedulerName": "volcano", "workloadSelector": selector} | profile for profile in profiles]
    return json.dumps({"apiVersion": "guard.xila.us/v1alpha1", "kind": "OrchestratorProfiles", "profiles": entries}, indent=1)


_SERIES = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')


def parse_metrics(text):
    """Prometheus' text format, strictly: a line that is none of it fails."""
    series = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        match = _SERIES.match(line)
        assert match, f"no series: {line!r}"
        labels, rest = [], match[2] or ""
        while rest:
            label = _LABEL.match(rest)
            assert label, f"no label: {rest!r}"
            labels.append((label[1], label[2]))
            rest = rest[label.end():]
        key = (match[1], tuple(labels))
        assert key not in series, f"twice: {line!r}"
        series[key] = float(match[3])
    return series


def run_guard(*arguments, env=None, seconds=PATIENCE):
    """Runs a command of the binary to its end: (exit code, stdout, stderr)."""
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, timeout=seconds, env=clean_environment() | (env or {}))
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def moment(seconds):
    """For the few waits that nothing announces, such as a time in which nothing may happen."""
    time.sleep(seconds)
