#!/usr/bin/env python3
"""Shows Xila Guard at work, without a cluster: serves over TLS on a free port, posts AdmissionReviews that a real API
server sent, shows the verdicts, and judges the manifests of examples/pods offline.

usage: demo.py [--binary PATH]
Exit code 1 when a verdict is not the expected one. Leaves nothing behind. Needs Python's standard library and openssl.
"""
import argparse
import http.client
import json
import os
import pathlib
import queue
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
REVIEWS = ROOT / "test" / "fixtures" / "reviews"
EXAMPLES = ROOT / "examples"
HOST = "127.0.0.1"
PATIENCE = 30.0
TIMED_SECONDS = 1.0

IS_TERMINAL = sys.stdout.isatty()
HAS_COLOUR = IS_TERMINAL and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
WIDTH = shutil.get_terminal_size((160, 24)).columns if IS_TERMINAL else 160

# What a request asks for, in a word.
WORDS = {("CREATE", "pods"): "create", ("UPDATE", "pods"): "update", ("UPDATE", "pods/ephemeralcontainers"): "debug",
         ("CREATE", "pods/binding"): "bind", ("DELETE", "pods"): "delete"}


class Failed(Exception):
    """The demo cannot go on; the words say why."""


def coloured(text, code):
    return f"\x1b[{code}m{text}\x1b[0m" if HAS_COLOUR else text


def headline(text):
    print("\n" + coloured(text, "1"))


def shortened(text, width):
    return text if len(text) <= width else text[:max(width - 3, 0)] + "..."


def make_certificate(folder):
    """A throw-away certificate and key for loopback."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                    "-keyout", folder / "tls.key", "-out", folder / "tls.crt", "-subj", "/CN=xila-guard-demo",
                    "-addext", f"subjectAltName=DNS:localhost,IP:{HOST}"], check=True, capture_output=True)


class Server:
    """`xila-guard webhook` with its log; the ports are those it chose."""

    def __init__(self, binary, folder, profiles):
        self.profiles = folder / "profiles.yaml"
        shutil.copy(profiles, self.profiles)
        self.lines = queue.Queue()
        self.said = []
        self.process = subprocess.Popen(
            [binary, "webhook", "--bind-address", HOST, "--secure-port", "0", "--metrics-bind-address", f"{HOST}:0",
             "--tls-cert-file", folder / "tls.crt", "--tls-private-key-file", folder / "tls.key", "--profiles", self.profiles,
             "--policy", EXAMPLES / "policy.yaml", "--shutdown-delay", "0s", "--log-format", "json"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=clean_environment())
        threading.Thread(target=self._read, daemon=True).start()
        self.await_line("config_loaded")
        self.port = self.await_line("serving")["port"]
        self.connection = http.client.HTTPSConnection(HOST, self.port, timeout=PATIENCE,
                                                      context=ssl.create_default_context(cafile=str(folder / "tls.crt")))

    def _read(self):
        for line in self.process.stderr:
            self.lines.put(line)
        self.lines.put(None)

    def await_line(self, event):
        """The next log line of that event."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                line = self.lines.get(timeout=max(end - time.monotonic(), 0.01))
            except queue.Empty:
                line = None
            if line is None:
                raise Failed(f"the server did not say {event!r}:\n{''.join(self.said[-20:])}")
            self.said.append(line)
            try:
                fields = json.loads(line)
            except ValueError:
                continue
            if fields.get("event") == event:
                return fields

    def use_profiles(self, source):
        """Puts another profiles file in place and returns once the running server follows it."""
        fresh = self.profiles.with_suffix(".new")
        shutil.copy(source, fresh)
        os.replace(fresh, self.profiles)
        self.await_line("config_loaded")

    def post(self, path, body):
        """The `response` of the answer."""
        self.connection.request("POST", f"{path}?timeout=10s", body, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise Failed(f"POST {path}: HTTP {answer.status} {text[:200]!r}")
        return json.loads(text)["response"]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def clean_environment():
    """Flags and a cluster in the environment are somebody else's."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("XILA_GUARD_", "KUBERNETES_"))}


class Row:
    """One review and what became of it."""

    def __init__(self, orchestrator, review, response, want):
        request = review["request"]
        resource = "/".join(filter(None, (request["resource"]["resource"], request.get("subResource"))))
        meta = (request.get("object") or {}).get("metadata", {})
        name = request.get("name") or meta.get("name") or meta.get("generateName", "") + "*"
        causes = response.get("status", {}).get("details", {}).get("causes", [])
        checks = sorted({cause["reason"] for cause in causes})
        self.is_expected = response["uid"] == request["uid"] and response["allowed"] is want["allowed"] and checks == want["checks"]
        self.allowed = response["allowed"]
        self.message = response.get("status", {}).get("message", "")
        self.cells = ["allowed" if self.allowed else "DENIED", orchestrator, WORDS.get((request["operation"], resource), resource),
                      f"{request['namespace']}/{name}", ", ".join(checks), "; ".join(cause["message"] for cause in causes)]


def show(rows):
    """The rows as a table. The last column takes what is left of the terminal's width, and goes where that is little."""
    table = [["VERDICT", "PROFILE", "TO", "OBJECT", "CHECKS", "REASON"]] + [row.cells for row in rows]
    widths = [max(len(cells[column]) for cells in table) for column in range(5)]
    widths[3] = min(widths[3], max(22, WIDTH // 4))
    widths[4] = min(widths[4], max(24, WIDTH // 5))
    left = WIDTH - sum(widths) - 2 * len(widths)
    for number, cells in enumerate(table):
        line = "  ".join(shortened(cell, width).ljust(width) for cell, width in zip(cells, widths))
        if left > 15:
            line += "  " + shortened(cells[5], left)
        line = shortened(line.rstrip(), WIDTH)
        colour = "2" if number == 0 else "32" if rows[number - 1].allowed else "31"
        print(coloured(line[:len(cells[0])], colour) + line[len(cells[0]):])


def post_recorded_reviews(server):
    """Every recorded review on its orchestrator's path, with that orchestrator's profile in force."""
    expected = json.loads((REVIEWS / "expect.json").read_text())
    rows, orchestrator = [], None
    for name, want in expected.items():
        if name.split("/")[0] != orchestrator:
            if orchestrator is not None:
                server.use_profiles(REVIEWS / name.split("/")[0] / "profiles.yaml")
            orchestrator = name.split("/")[0]
        body = (REVIEWS / name).read_bytes()
        rows.append(Row(orchestrator, json.loads(body), server.post(f"/validate/{orchestrator}", body), want))
    return rows


def time_reviews(server):
    """Reviews a second over one connection, one after the other."""
    body = next(REVIEWS.glob("*/yunikorn-deployment-pod-create.json")).read_bytes()
    count, begin = 0, time.monotonic()
    while time.monotonic() - begin < TIMED_SECONDS:
        server.post("/validate/yunikorn", body)
        count += 1
    return count / (time.monotonic() - begin)


def check_examples(binary):
    """Judges examples/pods offline; exit code 1 says that something is denied, which is what they are there for."""
    arguments = ["check", "--profiles", "examples/profiles.yaml", "--policy", "examples/policy.yaml", "examples/pods"]
    print(coloured(f"$ {shown(binary)} {' '.join(arguments)}", "2"))
    done = subprocess.run([binary, *arguments], cwd=ROOT, capture_output=True, text=True, env=clean_environment())
    print(done.stdout.rstrip())
    if done.returncode != 1:
        raise Failed(f"check: exit code {done.returncode}, expected 1 (something is denied)\n{done.stderr}")


def shown(binary):
    """The binary as one would type it in the project's folder."""
    path = pathlib.Path(binary)
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def next_steps(binary):
    headline("Try next")
    steps = [
        ("your own manifests, before they meet a cluster", f"{shown(binary)} check --tenant my-team --external-schedulers default-scheduler FILE..."),
        ("what a profiles file says", f"{shown(binary)} profiles examples/profiles.yaml"),
        ("every flag of the server", f"{shown(binary)} webhook --help"),
        ("all tests", "make test"),
        ("a real API server and kubectl", "make test-cluster"),
        ("on a cluster", "docs/install.md"),
    ]
    for what, command in steps:
        print(f"  {what + ':':<48} {coloured(command, '36')}")


def demonstrate(binary, folder):
    begin = time.monotonic()
    make_certificate(folder)
    orchestrators = [name.split("/")[0] for name in json.loads((REVIEWS / "expect.json").read_text())]
    server = Server(binary, folder, REVIEWS / orchestrators[0] / "profiles.yaml")
    try:
        headline("AdmissionReviews that a real API server sent, on clusters where the orchestrators ran unmodified")
        print(f"posted to https://{HOST}:{server.port}/validate/<profile>; the profile is changed while the server runs\n")
        rows = post_recorded_reviews(server)
        show(rows)
        wrong = [row for row in rows if not row.is_expected]
        denied = sum(not row.allowed for row in rows)
        rate = time_reviews(server)
        print(f"\n{len(rows)} reviews: {len(rows) - denied} allowed, {denied} denied, "
              f"{'each as expected' if not wrong else f'{len(wrong)} NOT AS EXPECTED'}. "
              f"{rate:.0f} reviews a second over one connection, one after the other, this client's own time included.")
        for row in wrong:
            print("not as expected: " + "  ".join(row.cells))

        headline("A denial in full, as kubectl shows it")
        longest = max(rows, key=lambda row: len(row.cells[4]))
        print(f'Error from server (Forbidden): admission webhook "validate-{longest.cells[1]}.guard.xila.us" denied the request: {longest.message}')
    finally:
        server.stop()

    headline("The same decision offline, on manifests")
    check_examples(binary)
    next_steps(binary)
    print(f"\n{time.monotonic() - begin:.1f} s in all. Nothing is left running.")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--binary", default=str(ROOT / "build" / "release" / "xila-guard"))
    binary = os.path.abspath(parser.parse_args().binary)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    try:
        if not os.access(binary, os.X_OK):
            raise Failed(f"{binary} is not there; `make demo` builds it")
        if not shutil.which("openssl"):
            raise Failed("openssl is not installed; scripts/install-deps.sh installs it")
        with tempfile.TemporaryDirectory(prefix="xila-guard-demo-") as folder:
            return demonstrate(binary, pathlib.Path(folder))
    except (Failed, OSError, http.client.HTTPException) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
