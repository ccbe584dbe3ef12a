#!/usr/bin/env python3
"""See bench-observe.sh. Objects are written straight into etcd, as an API server stores them; all else goes through it."""
import argparse
import os
import pathlib
import re
import signal
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "test" / "cluster"), str(ROOT / "test" / "server")]

from apiserver import ApiServer, assets  # noqa: E402  (found by the line above)
from observer import POOL, TENANT, Observer, relabel_node  # noqa: E402  (found by the line above)
from support import Process, wait_until  # noqa: E402  (found by the line above)

TIME = "2026-01-01T00:00:00Z"
TENANTS = 100
QPS, BURST = 10, 50
# What must hold at full size.
LIMITS = {"judged": 30.0, "resident": 250.0, "relabel": 1.0, "rest": 1.0}


def uid(kind, index):
    return f"{kind:08x}-0000-4000-8000-{index:012x}"


def tenant(index):
    return f"tenant-{index % TENANTS}"


def managed(manager, fields, **more):
    return {"manager": manager, "operation": "Update", "apiVersion": "v1", "time": TIME, "fieldsType": "FieldsV1", "fieldsV1": fields} | more


def nodes(count):
    """GPU nodes with the labels that feature discovery leaves on them."""
    for i in range(count):
        labels = {"kubernetes.io/hostname": f"node-{i}", POOL: tenant(i)}
        labels |= {f"feature.node.kubernetes.io/cpu-cpuid.F{j}": "true" for j in range(40)}
        labels |= {f"nvidia.com/gpu.property-{j}": f"value-{j}" for j in range(20)}
        yield {"kind": "Node", "apiVersion": "v1", "metadata": {
            "name": f"node-{i}", "uid": uid(1, i), "creationTimestamp": TIME, "labels": labels,
            "annotations": {"kwok.x-k8s.io/node": "fake"}}, "spec": {}, "status": {}}


def namespaces(count):
    for i in range(count):
        name = f"ns-{i}"
        yield {"kind": "Namespace", "apiVersion": "v1", "metadata": {
            "name": name, "uid": uid(2, i), "creationTimestamp": TIME, "labels": {"kubernetes.io/metadata.name": name, TENANT: tenant(i)}},
            "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}


def pods(count, node_count, namespace_count):
    """Running Pods of batch jobs, each on a node of its tenant's pool, as large as an API server lists them: about 4 KB."""
    conditions = [{"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": TIME}
                  for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")]
    container = {"name": "main", "image": "registry.example/train:1", "command": ["python", "train.py"], "imagePullPolicy": "IfNotPresent",
                 "env": [{"name": f"OPTION_{j}", "value": f"value-{j}"} for j in range(10)], "resources": {"limits": {"nvidia.com/gpu": "1"}},
                 "volumeMounts": [{"name": "kube-api-access", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": True}],
                 "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
    spec_fields = {"f:spec": {"f:containers": {'k:{"name":"main"}': {f"f:field{j}": {} for j in range(20)}}, "f:schedulerName": {}}}
    status_fields = {"f:status": {"f:conditions": {f'k:{{"type":"{one["type"]}"}}': {".": {}, "f:status": {}} for one in conditions}}}
    for i in range(count):
        space = i % namespace_count
        # A node of the same tenant, as TENANTS divides both.
        node = (space % TENANTS + TENANTS * (i // namespace_count)) % node_count
        name = f"train-{i}"
        yield {"kind": "Pod", "apiVersion": "v1", "metadata": {
            "name": name, "namespace": f"ns-{space}", "uid": uid(3, i), "creationTimestamp": TIME,
            "labels": {"volcano.sh/job-name": f"train-{i // 8}", "volcano.sh/queue-name": "default", "volcano.sh/task-index": str(i % 8),
                       "volcano.sh/job-namespace": f"ns-{space}", "app.kubernetes.io/part-of": "training"},
            # Of no kind Job: kwok lets those end.
            "ownerReferences": [{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": f"train-{i // 8}", "uid": uid(4, i // 8),
                                 "controller": True}],
            "managedFields": [managed("vc-controller-manager", spec_fields), managed("kubelet", status_fields, subresource="status")]},
            "spec": {"schedulerName": "volcano", "nodeName": f"node-{node}", "serviceAccountName": "default", "containers": [container],
                     "volumes": [{"name": f"kube-api-access-{i % 99991:05}", "projected": {"sources": []}}], "restartPolicy": "Never"},
            "status": {"phase": "Running", "conditions": conditions, "hostIP": "10.0.0.1", "podIP": "10.1.0.1", "startTime": TIME,
                       "containerStatuses": [{"name": "main", "ready": True, "restartCount": 0, "image": "registry.example/train:1",
                                              "imageID": "sha256:" + "0" * 64, "state": {"running": {"startedAt": TIME}}}]}}


def memory(observer):
    """(resident, highest resident) in MiB."""
    status = pathlib.Path(f"/proc/{observer.process.pid}/status").read_text()
    return tuple(int(re.search(rf"{field}:\s+(\d+)", status)[1]) / 1024 for field in ("VmRSS", "VmHWM"))


def cpu_seconds(observer):
    fields = pathlib.Path(f"/proc/{observer.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_percent(observer, seconds=30):
    before = cpu_seconds(observer)
    time.sleep(seconds)
    return (cpu_seconds(observer) - before) / seconds * 100


def count_lines(observer, change):
    return observer.report.read_bytes().count(f'"change":"{change}"'.encode()) if observer.report.exists() else 0


def relabel_seconds(api, observer, node, on_node):
    """From the request that takes the label to the last line about a Pod of the node."""
    before = count_lines(observer, "opened")
    begin = time.monotonic()
    relabel_node(api, node, {POOL: "nobodys"})
    wait_until("the node's Pods are reported", lambda: count_lines(observer, "opened") >= before + on_node, 60, 0.005)
    lasted = time.monotonic() - begin
    resolved = count_lines(observer, "resolved")
    relabel_node(api, node, {POOL: tenant(int(node.rpartition("-")[2]))})
    wait_until("they are resolved", lambda: count_lines(observer, "resolved") >= resolved + on_node, 60, 0.005)
    return lasted


def events_told(observer):
    """The API server's writes: new Events, and old ones counted again."""
    return sum(observer.metric("xila_guard_events_total", result=result) for result in ("written", "repeated"))


def storm(api, observer, size, per_node):
    """Relabels nodes until `size` Pods violate. (lines, lines wanted, seconds, Events told meanwhile)"""
    affected = -(-size // per_node)
    before = count_lines(observer, "opened")
    told = events_told(observer)
    begin = time.monotonic()
    for i in range(affected):
        relabel_node(api, f"node-{i}", {POOL: "nobodys"})
    wait_until("a line each", lambda: count_lines(observer, "opened") >= before + affected * per_node, 120, 0.05)
    lasted = time.monotonic() - begin
    return count_lines(observer, "opened") - before, affected * per_node, lasted, events_told(observer) - told


def await_kwok(api, node_count):
    """Until kwok has taken over every node: it shares two cores with all that is measured here."""
    leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases?limit=1"

    def count():
        page = api.must("GET", leases)
        return len(page["items"]) + page["metadata"].get("remainingItemCount", 0)
    wait_until("kwok keeps the nodes", lambda: count() >= node_count, 300, 0.5)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--pods", type=int, default=100_000)
    parser.add_argument("--namespaces", type=int, default=1_000)
    parser.add_argument("--check", action="store_true", help="fail where a limit is passed")
    options = parser.parse_args()
    if not assets():
        parser.error("KUBEBUILDER_ASSETS must name a folder with etcd, kube-apiserver and kubectl")
    per_node = options.pods // options.nodes
    passed = []

    def show(what, value, unit, limit=None):
        within = limit is None or value <= limit
        passed.append(within)
        print(f"{what:44} {value:10.2f} {unit}" + ("" if limit is None else f"  (limit {limit:g}{'' if within else ': PASSED'})"), flush=True)

    print(f"{options.pods} Pods on {options.nodes} nodes in {options.namespaces} namespaces; load {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory() as folder, ApiServer() as api:
        api.seed("minions", nodes(options.nodes))
        api.seed("namespaces", namespaces(options.namespaces))
        api.seed("pods", pods(options.pods, options.nodes, options.namespaces))
        api.restart()  # its caches were filled before
        kwok = None
        if os.access(api.bin / "kwok", os.X_OK):
            kwok = Process([api.bin / "kwok", "--kubeconfig", api.kubeconfig, "--manage-all-nodes=false",
                            "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake", "--node-lease-duration-seconds=40"],
                           pathlib.Path(folder) / "kwok.log")
        try:
            if kwok:
                await_kwok(api, options.nodes)
            begin = time.monotonic()
            with Observer(api, flags=["--event-qps", str(QPS), "--event-burst", str(BURST)], patience=600) as observer:
                show("from start to everything judged", time.monotonic() - begin, "s", LIMITS["judged"])
                show("CPU of it", cpu_seconds(observer), "s")
                show("open findings", observer.findings("?limit=0")["total"], "")
                resident, highest = memory(observer)
                show("resident", resident, "MiB", LIMITS["resident"])
                show("highest resident", highest, "MiB", LIMITS["resident"])
                times = [relabel_seconds(api, observer, f"node-{i}", per_node) for i in range(20)]
                show("a node relabelled, reported: the slowest of 20", max(times), "s", LIMITS["relabel"])
                # The relabelling's Events are written at their pace; then nothing happens any more.
                wait_until("no Event waits", lambda: observer.metric("xila_guard_events_waiting") == 0, 300, 0.5)
                if kwok:
                    show("CPU while kwok keeps the nodes alive", cpu_percent(observer), "%")
                    kwok.child.send_signal(signal.SIGSTOP)
                show("CPU when nothing changes", cpu_percent(observer), "%", LIMITS["rest"])
                if kwok:
                    kwok.child.send_signal(signal.SIGCONT)
                lines, wanted, lasted, written = storm(api, observer, min(5_000, options.pods), per_node)
                show("a storm: lines", lines, f"of {wanted}, in {lasted:.1f} s")
                show("a storm: Events written meanwhile", written, "", BURST + QPS * lasted + 1)
                passed.append(lines == wanted)
                show("resident after it", memory(observer)[0], "MiB", LIMITS["resident"])
        finally:
            if kwok:
                kwok.stop()
    if options.check and not all(passed):
        sys.exit(1)


if __name__ == "__main__":
    main()
