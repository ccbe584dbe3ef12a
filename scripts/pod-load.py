#!/usr/bin/env python3
"""Creates Pods at a steady rate by dry run, which calls every webhook and stores nothing, until SIGTERM or SIGINT.

usage: pod-load.py --url http://127.0.0.1:PORT --namespace NAME --rate N < pod.json

The URL is a `kubectl proxy`. At the end it says how many were created and how many failed, with the first failures' words;
exit code 1 when one failed, or when the rate could not be held.
"""
import argparse
import http.client
import json
import signal
import sys
import threading
import time
import urllib.parse

WORKERS = 8


class Load:
    def __init__(self, url, namespace, rate, pod):
        self.host = urllib.parse.urlsplit(url).netloc
        self.path = f"/api/v1/namespaces/{namespace}/pods?dryRun=All"
        self.rate, self.pod = rate, pod
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.created, self.slowest, self.failures = 0, 0.0, []

    def work(self, number):
        """One of the workers: every WORKERS-th Pod, each at its own moment."""
        connection = http.client.HTTPConnection(self.host, timeout=30)
        begin, turn = time.monotonic(), number
        while not self.stop.is_set():
            pause = begin + turn / self.rate - time.monotonic()
            if pause > 0 and self.stop.wait(pause):
                break
            self.create(connection, turn)
            turn += WORKERS

    def create(self, connection, turn):
        pod = self.pod | {"metadata": self.pod["metadata"] | {"name": f"load-{turn}"}}
        begin = time.monotonic()
        try:
            connection.request("POST", self.path, json.dumps(pod), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
            words = None if answer.status == 201 else f"{answer.status} {json.loads(text).get('message', text)}"
        except (OSError, http.client.HTTPException, ValueError) as error:
            connection.close()  # opened again by the next request
            words = f"{type(error).__name__}: {error}"
        with self.lock:
            self.slowest = max(self.slowest, time.monotonic() - begin)
            if words is None:
                self.created += 1
            else:
                self.failures.append(f"{time.strftime('%H:%M:%S')} {words}")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--url", required=True)
    options.add_argument("--namespace", required=True)
    options.add_argument("--rate", type=float, required=True)
    given = options.parse_args()
    load = Load(given.url, given.namespace, given.rate, json.load(sys.stdin))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: load.stop.set())
    begin = time.monotonic()
    workers = [threading.Thread(target=load.work, args=(number,), daemon=True) for number in range(WORKERS)]
    for worker in workers:
        worker.start()
    while not load.stop.wait(1):
        pass
    for worker in workers:
        worker.join(30)
    seconds = time.monotonic() - begin
    total = load.created + len(load.failures)
    print(f"{load.created} created, {len(load.failures)} failed in {seconds:.0f} s ({total / seconds:.0f}/s, slowest {load.slowest * 1000:.0f} ms)")
    for failure in load.failures[:5]:
        print(f"  {failure}")
    if total < 0.8 * given.rate * seconds:
        print(f"  the rate of {given.rate:.0f}/s was not held", file=sys.stderr)
        return 1
    return 1 if load.failures else 0


if __name__ == "__main__":
    sys.exit(main())
