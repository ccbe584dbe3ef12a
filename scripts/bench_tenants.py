#!/usr/bin/env python3
"""The tenant directory at scale: the real server under a real API server with many namespaces.

Measures the time from the process's start to ready (all namespaces synced), resident memory (after the sync, after a
relist, and at its highest), how soon a change counts, and what reviews take: by the static map of a server without
cluster, by the cache, and by the cache while namespaces change. Reviews go over one keep-alive TLS connection from
Python, so their times are for comparing within one run.

usage: bench_tenants.py BINARY [--namespaces N] [--reviews N]
environment: KUBEBUILDER_ASSETS, a folder with etcd, kube-apiserver and kubectl
"""
import argparse
import json
import os
import pathlib
import re
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "test" / "server"), str(ROOT / "test" / "cluster")]

LABEL = "guard.xila.us/tenant"


def namespaces(count):
    """As an API server stores them, with the managedFields that kubectl leaves."""
    fields = {"f:metadata": {"f:labels": {".": {}, "f:kubernetes.io/metadata.name": {}, f"f:{LABEL}": {}}}}
    for i in range(count):
        name = f"team-{i:05}"
        yield {"kind": "Namespace", "apiVersion": "v1", "metadata": {
            "name": name, "uid": f"5f0c2f0e-7c1e-4a52-9a53-{i:012x}", "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"kubernetes.io/metadata.name": name, LABEL: f"tenant-{i % 500}"},
            "managedFields": [{"manager": "kubectl-create", "operation": "Update", "apiVersion": "v1",
                               "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": fields}]},
            "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}


def memory(guard):
    """(resident, highest resident) in MiB."""
    status = pathlib.Path(f"/proc/{guard.process.pid}/status").read_text()
    return tuple(int(re.search(rf"{field}:\s+(\d+)", status)[1]) / 1024 for field in ("VmRSS", "VmHWM"))


def percentiles(times):
    times = sorted(times)
    return f"p50 {times[len(times) // 2] * 1e6:.0f} us, p99 {times[len(times) * 99 // 100] * 1e6:.0f} us"


def time_reviews(guard, spaces, count):
    from inputs import review
    bodies = [json.dumps(review(namespace=space)) for space in spaces]
    times = []
    with guard.client() as client:
        for i in range(count + 200):
            begin = time.perf_counter()
            answer = client.post(bodies[i % len(bodies)], "/validate")
            if i >= 200:  # warm
                times.append(time.perf_counter() - begin)
            assert answer.allowed, answer
    return percentiles(times)


def time_changes(api, guard, count=50):
    """How long after the API server has taken a relabelling a review is answered by it."""
    from inputs import review
    body = json.dumps(review(namespace="team-00001"))
    lags = []
    with guard.client() as client:
        for i in range(count):
            api.label_namespace("team-00001", {LABEL: f"changed-{i}"})
            begin = time.perf_counter()
            while client.post(body, "/validate").response["auditAnnotations"]["tenant"] != f"changed-{i}":
                pass
            lags.append(time.perf_counter() - begin)
    return percentiles(lags)


def churn(api, over):
    while not over.is_set():
        for i in range(100):
            api.label_namespace(f"team-{i:05}", {"churn": str(time.time_ns())})
            if over.wait(0.002):
                return


def measure(api, guard, begin, options):
    """Prints the figures of a guard whose process began at `begin`."""
    from apiserver import wait_until
    guard.await_serving()
    wait_until("the server is ready", lambda: guard.get("/readyz").status == 200, 120, 0.005)
    print(f"start to ready         {time.monotonic() - begin:.2f} s for {guard.metric('xila_guard_watch_objects'):.0f} namespaces")
    time.sleep(1)
    print("resident after it      %.1f MiB, highest %.1f MiB" % memory(guard))
    spaces = [f"team-{i:05}" for i in range(0, options.namespaces, max(1, options.namespaces // 100))]
    print(f"reviews, cache         {time_reviews(guard, spaces, options.reviews)}")
    over = threading.Event()
    changing = threading.Thread(target=churn, args=(api, over))
    changing.start()
    print(f"reviews while changing {time_reviews(guard, spaces, options.reviews)}")
    over.set()
    changing.join()
    print(f"a change counts after  {time_changes(api, guard)}")
    api.stop()
    api.unseed("namespaces/team-00000")
    api.compact()
    api.start()
    guard.wait_for_log("listed", 2)
    time.sleep(1)
    print("resident after relist  %.1f MiB, highest %.1f MiB" % memory(guard))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--namespaces", type=int, default=50_000)
    parser.add_argument("--reviews", type=int, default=5_000)
    options = parser.parse_args()
    os.environ["XILA_GUARD_BINARY"] = str(pathlib.Path(options.binary).resolve())
    from apiserver import ApiServer, assets
    from guard import Guard
    if not assets():
        sys.exit("bench_tenants: KUBEBUILDER_ASSETS must name a folder with etcd, kube-apiserver and kubectl")

    with Guard(policy={"team-00000": "tenant-0"}) as alone:
        print("resident, static map   %.1f MiB, highest %.1f MiB" % memory(alone))
        print(f"reviews, static map    {time_reviews(alone, ['team-00000'], options.reviews)}")
    with ApiServer() as api:
        kubeconfig = api.service_account("xila-guard", [{"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "list", "watch"]}])
        api.stop()
        api.seed("namespaces", namespaces(options.namespaces))
        api.start()
        guard = Guard(policy={}, flags=["--kubeconfig", kubeconfig])
        begin = time.monotonic()
        guard.start()
        try:
            measure(api, guard, begin, options)
        finally:
            guard.stop()


if __name__ == "__main__":
    main()
