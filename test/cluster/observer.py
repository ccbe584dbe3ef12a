"""The real controller for tests: `xila-guard observe` against an API server, its report in a file.

    with Observer(api) as observer:
        step = observer.step(finding="drift", pod="train-0")

The binary is XILA_GUARD_BINARY. At the end of the block the controller must have lived until it was told to end, must end
with exit code 0, and no sanitizer may have said a word.
"""
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from support import HOST, wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "server"))
from client import parse_metrics  # noqa: E402  (found by the line above)
from guard import BINARY, PATIENCE, SANITIZER_WORDS, clean_environment  # noqa: E402  (found by the line above)
from inputs import ROOT  # noqa: E402, F401  (found by the line above; for the tests)

POOL = "guard.xila.us/pool"
TENANT = "guard.xila.us/tenant"
PROFILES = {"apiVersion": "guard.xila.us/v1alpha1", "kind": "OrchestratorProfiles", "profiles": [
    {"name": "volcano", "schedulerName": "volcano",
     "workloadSelector": {"matchExpressions": [{"key": "volcano.sh/job-name", "operator": "Exists"}]}}]}


def policy(*rules, **more):
    """A policy whose tenants have pools, with `rules` besides."""
    pools = {"name": "tenant-pools", "tenants": ["*"],
             "require": {"matchExpressions": [{"key": POOL, "operator": "In", "values": ["$(tenant)", "shared"]}]}}
    return {"apiVersion": "guard.xila.us/v1alpha1", "kind": "GuardPolicy", "placement": {"rules": [pools, *rules]}} | more


# What the chart grants, but for the Lease.
RULES = [{"apiGroups": [""], "verbs": ["get", "list", "watch"],
          "resources": ["pods", "nodes", "namespaces", "persistentvolumeclaims", "persistentvolumes"]},
         {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]}]
LEASES = [{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create", "get", "update"]}]


class Observer:
    """A running controller; a context manager.

    kubeconfig   as whom; default: the admin
    settle       both settle windows
    flags        as on the command line
    report       the file of its findings; default: one of its own
    patience     seconds until everything must be judged
    """

    def __init__(self, api, kubeconfig=None, profiles=None, rules=None, settle="0s", flags=(), report=None, name="observe-0",
                 patience=PATIENCE):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="xila-guard-observe-"))
        self.report = pathlib.Path(report or self.folder / "findings.jsonl")
        self.profiles = self.folder / "profiles.yaml"
        self.profiles.write_text(json.dumps(profiles or PROFILES))
        self.policy = self.folder / "policy.yaml"
        self.policy.write_text(json.dumps(rules or policy()))
        self.common = ["--kubeconfig", kubeconfig or api.kubeconfig, "--profiles", self.profiles, "--policy", self.policy]
        self.command = [BINARY, "observe", *self.common, "--settle-after-bind", settle, "--settle-after-relabel", settle,
                        "--report-file", self.report, "--findings-bind-address", f"{HOST}:0",
                        "--metrics-bind-address", f"{HOST}:0", "--log-format", "json", *flags]
        self.env = clean_environment() | {"POD_NAME": name, "POD_NAMESPACE": "default"}
        self.log = []
        self.process = None
        self.stop_asked = False
        self.patience = patience

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop(signal.SIGKILL)
            raise
        return self

    def __exit__(self, kind, *_):
        lived = self.process.poll() is None
        code = self.stop()
        said = [line for line in self.log if any(word in str(line) for word in SANITIZER_WORDS)]
        shutil.rmtree(self.folder, ignore_errors=True)
        if kind is None:
            assert lived or self.stop_asked, f"the controller ended by itself with {code}:\n{self.tail()}"
            assert code in (0, -signal.SIGKILL), f"exit code {code}:\n{self.tail()}"
            assert not said, self.tail(200)

    def start(self, judged=True):
        self.log.clear()
        self.process = subprocess.Popen([str(part) for part in self.command], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=self.env)
        for stream in (self.process.stderr, self.process.stdout):
            threading.Thread(target=self._read, args=(stream,), daemon=True).start()
        self.ports = self.logged("observing")
        if judged:
            self.logged("judged", self.patience)

    def _read(self, stream):
        for raw in stream:
            text = raw.decode(errors="replace").rstrip("\n")
            try:
                self.log.append(json.loads(text))
            except ValueError:
                self.log.append(text)
        stream.close()

    def stop(self, how=signal.SIGTERM):
        self.stop_asked = True
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(PATIENCE)

    # What it says

    def logged(self, event, seconds=PATIENCE, **fields):
        """The first log line of this event with these fields."""
        def find():
            if self.process.poll() is not None:
                raise AssertionError(f"the controller ended:\n{self.tail()}")
            return next((line for line in list(self.log) if isinstance(line, dict) and line["event"] == event
                         and fields.items() <= line.items()), None)
        return wait_until(f"log line {event} {fields}; there is\n{self.tail()}", find, seconds)

    def count_logged(self, event):
        return sum(isinstance(line, dict) and line["event"] == event for line in list(self.log))

    def tail(self, lines=30):
        return "\n".join(str(line) for line in self.log[-lines:])

    def steps(self, **keys):
        """The lines of the report that have these values. A last line without its end is still being written."""
        if not self.report.is_file():
            return []
        lines = [json.loads(line) for line in self.report.read_text().splitlines(keepends=True) if line.endswith("\n")]
        return [line for line in lines if keys.items() <= line.items()]

    def step(self, seconds=PATIENCE, **keys):
        """Waits for the one line with these values."""
        found = wait_until(f"report line {keys}; there is\n" + "\n".join(map(str, self.steps())),
                           lambda: self.steps(**keys), seconds)
        assert len(found) == 1, found
        return found[0]

    def get(self, path, port="operations_port"):
        connection = http.client.HTTPConnection(HOST, self.ports[port], timeout=30)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def metric(self, name, **labels):
        """The value of a series; 0 where there is none."""
        for series, value in parse_metrics(self.get("/metrics")[1]).items():
            if series[0] == name and dict(series[1]) == labels:
                return value
        return 0

    def findings(self, query=""):
        status, body = self.get("/findings" + query, "findings_port")
        assert status == 200, body
        return json.loads(body)

    def once(self, output="text", **more):
        """(exit code, stdout, stderr) of one look at the cluster."""
        done = subprocess.run([str(part) for part in [BINARY, "observe", "--once", "-o", output, *self.common]],
                              capture_output=True, text=True, env=self.env, timeout=120, **more)
        return done.returncode, done.stdout, done.stderr


# What is observed

def make_node(api, name, **labels):
    return api.must("POST", "/api/v1/nodes", {"metadata": {"name": name, "labels": {POOL: labels.pop("pool", "")} | labels}})


def relabel_node(api, name, labels):
    return api.must("PATCH", f"/api/v1/nodes/{name}", {"metadata": {"labels": labels}}, "application/merge-patch+json")


def make_pod(api, namespace, name, node=None, labels=None, metadata=None, **spec):
    """A Pod that keeps to the boundary unless `spec` says otherwise, bound through pods/binding."""
    path = f"/api/v1/namespaces/{namespace}/pods"
    body = {"metadata": {"name": name, "labels": {"volcano.sh/job-name": "train"} if labels is None else labels} | (metadata or {}),
            "spec": {"schedulerName": "volcano", "containers": [{"name": "main", "image": "busybox:1.36"}]} | spec}
    made = api.must("POST", path, body)
    if node:
        api.must("POST", f"{path}/{name}/binding", {"metadata": {"name": name}, "target": {"kind": "Node", "name": node}})
    return made


def delete_pod(api, namespace, name):
    api.must("DELETE", f"/api/v1/namespaces/{namespace}/pods/{name}?gracePeriodSeconds=0")


def events_of(api, namespace, **keys):
    items = api.must("GET", f"/apis/events.k8s.io/v1/namespaces/{namespace}/events")["items"]
    return [item for item in items if keys.items() <= item.items()]
