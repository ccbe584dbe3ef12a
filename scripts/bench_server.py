#!/usr/bin/env python3
"""CPU per review of the real server over TLS, against a server that reads the same body and answers a constant.

Both run on core 0 and are loaded in turn from core 1 by wrk (Debian package), 8 keep-alive connections. These
figures are for comparing within one run: machines are noisy, and what holds is the ratio, taken of each turn: what
disturbs one of a pair mostly disturbs the other too.

usage: bench_server.py BUILD_FOLDER [--body FILE] [--seconds N] [--rounds N] [--reference BINARY]
"""
import argparse
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TICKS = os.sysconf("SC_CLK_TCK")

PROFILES = """apiVersion: guard.xila.us/v1alpha1
kind: OrchestratorProfiles
profiles:
  - name: bench
    schedulerName: "%s"
    workloadSelector: {matchExpressions: [{key: example.com/job, operator: Exists}]}
"""
POLICY = """apiVersion: guard.xila.us/v1alpha1
kind: GuardPolicy
tenants: {namespaces: {%s: bench}}
"""
WRK = """wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local file = io.open(os.getenv("BODY"), "rb")
wrk.body = file:read("*all")
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_kib(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])


def await_port(process, port, begin):
    while process.poll() is None and time.monotonic() - begin < 20:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return time.monotonic() - begin
        time.sleep(0.002)
    raise SystemExit(f"nobody listens on port {port}")


def post_once(folder, port, body):
    context = ssl.create_default_context(cafile=folder / "tls.crt")
    connection = http.client.HTTPSConnection("localhost", port, timeout=10, context=context)
    connection.request("POST", "/validate/bench", body.read_bytes(), {"Content-Type": "application/json"})
    return connection.getresponse().read()


def load(folder, port, body, seconds):
    """One round of wrk: (reviews, p50, p99 as wrk prints them)."""
    out = subprocess.run(
        ["taskset", "-c", "1", "wrk", "-t1", "-c8", f"-d{seconds}s", "--latency", "-s", folder / "post.lua",
         f"https://127.0.0.1:{port}/validate/bench?timeout=10s"],
        env=dict(os.environ, BODY=str(body)), capture_output=True, text=True, check=True).stdout
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    if bad:
        raise SystemExit(f"{bad[1]} answers were not 200")
    return (int(re.search(r"(\d+) requests in", out)[1]), re.search(r"50%\s+(\S+)", out)[1],
            re.search(r"99%\s+(\S+)", out)[1])


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("build", type=pathlib.Path)
    arguments.add_argument("--body", type=pathlib.Path, default=ROOT / "bench/review-16k.json")
    arguments.add_argument("--seconds", type=int, default=1)
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--reference", type=pathlib.Path, help="another constant server: PORT CERTIFICATE KEY 1 const")
    a = arguments.parse_args()
    if not shutil.which("wrk"):
        raise SystemExit("bench_server: wrk is missing (apt-get install wrk)")

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                        folder / "tls.key", "-out", folder / "tls.crt", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
                       check=True, capture_output=True)
        request = json.loads(a.body.read_text())["request"]
        (folder / "profiles.yaml").write_text(PROFILES % request["object"]["spec"]["schedulerName"])
        (folder / "policy.yaml").write_text(POLICY % request["namespace"])
        (folder / "post.lua").write_text(WRK)

        pinned = ["taskset", "-c", "0"]
        ports = {"reference": free_port(), "xila-guard": free_port()}
        pair = [folder / "tls.crt", folder / "tls.key"]
        commands = {
            "reference": [a.reference, str(ports["reference"]), *pair, "1", "const"] if a.reference else
                         [a.build / "bench/reference_server", str(ports["reference"]), *pair],
            "xila-guard": [a.build / "xila-guard", "webhook", "--bind-address", "127.0.0.1", "--secure-port",
                           str(ports["xila-guard"]), "--tls-cert-file", pair[0], "--tls-private-key-file", pair[1],
                           "--metrics-bind-address", "0", "--profiles", folder / "profiles.yaml", "--policy",
                           folder / "policy.yaml", "--threads", "1", "--shutdown-delay", "0s"],
        }
        with contextlib.ExitStack() as stack:
            servers = {}
            for who, command in commands.items():
                begin = time.monotonic()
                process = subprocess.Popen(pinned + [str(c) for c in command], stderr=subprocess.DEVNULL)
                stack.callback(process.wait)
                stack.callback(process.terminate)
                ready = await_port(process, ports[who], begin)
                servers[who] = process.pid
                print(f"{who}: ready in {ready * 1000:.0f} ms, {memory_kib(process.pid) / 1024:.1f} MiB resident")

            verdict = post_once(folder, ports["xila-guard"], a.body)
            if b'"allowed":true' not in verdict:
                raise SystemExit(f"the review is not allowed, so this would time something else: {verdict[:300]!r}")
            figures = {who: [] for who in servers}
            for turn in range(a.rounds):
                for who in list(servers) if turn % 2 == 0 else reversed(list(servers)):
                    before = cpu_seconds(servers[who])
                    reviews, p50, p99 = load(folder, ports[who], a.body, a.seconds)
                    micros = (cpu_seconds(servers[who]) - before) * 1e6 / reviews
                    figures[who].append(micros)
                    print(f"  {who:11} {reviews / a.seconds:8.0f} reviews/s  {micros:6.1f} us of CPU each  p50 {p50} p99 {p99}")
            medians = {who: statistics.median(values) for who, values in figures.items()}
            for who, pid in servers.items():
                print(f"{who}: median {medians[who]:.1f} us of CPU per review, {memory_kib(pid) / 1024:.1f} MiB resident after it")
            ours, theirs = figures["xila-guard"], figures["reference"]
            ratios = [a / b for a, b in zip(ours, theirs)]
            print(f"ratio: {statistics.median(ratios):.2f} (median of {a.rounds} turns), {min(ours) / min(theirs):.2f} (of the lowest)")


if __name__ == "__main__":
    sys.exit(main())
