#!/usr/bin/env python3
"""Writes the AdmissionReview that the benchmark measures: the CREATE of one GPU worker, as an API server posts it.

  make_body.py [BYTES] > review-16k.json

The shape is a worker of a training job: a side-car, an init container, a few volumes, and managedFields, which
are a third of what an API server sends. Environment variables fill it up to BYTES (default 16384), a quarter
of them with characters that JSON escapes. The same from run to run.
"""
import json
import sys
import uuid

NAMESPACE = "team-a"


def uid(name):
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def variable(index):
    text = f"s3://checkpoints/{uid(str(index))[:18]}/step-{index * 250}"
    if index % 4 == 0:
        text = json.dumps({"bucket": text, "note": "naïve\tdefault"}, ensure_ascii=False)
    return {"name": f"TRAIN_OPTION_{index:03d}", "value": text}


def container(name, env, gpus=0):
    quantity = {"cpu": "8", "memory": "64Gi", **({"example.com/gpu": str(gpus)} if gpus else {})}
    return {
        "name": name,
        "image": f"registry.example.com/ml/{name}:2.4.1",
        "command": ["python3", "-m", name, "--config=/etc/train/config.yaml"],
        "ports": [{"name": "metrics", "containerPort": 9400, "protocol": "TCP"}],
        "env": env,
        "resources": {"limits": quantity, "requests": quantity},
        "volumeMounts": [
            {"name": "config", "readOnly": True, "mountPath": "/etc/train"},
            {"name": "scratch", "mountPath": "/scratch"},
            {"name": "kube-api-access-9xk2v", "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"},
        ],
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {
            "capabilities": {"drop": ["ALL"]},
            "privileged": False,
            "runAsNonRoot": True,
            "allowPrivilegeEscalation": False,
        },
    }


def fields(value):
    """What managedFields say of a value: its keys, with list entries named by theirs."""
    if isinstance(value, dict):
        return {"f:" + key: fields(inner) for key, inner in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict) and "name" in value[0]:
        return {'k:{"name":"%s"}' % inner["name"]: {".": {}, **fields(inner)} for inner in value}
    return {}


def pod(options):
    labels = {f"batch.example.com/{key}": text for key, text in
              {"job": "llm-pretrain", "queue": "research", "task": "worker", "index": "17"}.items()}
    spec = {
        "volumes": [
            {"name": "config", "configMap": {"name": "llm-pretrain-config", "defaultMode": 420}},
            {"name": "scratch", "emptyDir": {"sizeLimit": "200Gi"}},
            {"name": "data", "persistentVolumeClaim": {"claimName": "corpus", "readOnly": True}},
            {"name": "kube-api-access-9xk2v", "projected": {"defaultMode": 420, "sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
            ]}},
        ],
        "initContainers": [container("fetch", [variable(900)])],
        "containers": [container("trainer", [variable(i) for i in range(options)], gpus=8),
                       container("exporter", [variable(i) for i in range(950, 954)])],
        "restartPolicy": "OnFailure",
        "terminationGracePeriodSeconds": 60,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "trainer",
        "serviceAccount": "trainer",
        "securityContext": {"runAsUser": 1000, "fsGroup": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "example.com/gpu.product", "operator": "In", "values": ["H200", "B200"]}]}]}}},
        "schedulerName": "batch-scheduler",
        "tolerations": [{"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
                        for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")],
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
    }
    metadata = {
        "name": "llm-pretrain-worker-17", "namespace": NAMESPACE, "uid": uid("pod"), "generation": 1,
        "creationTimestamp": "2026-03-02T09:15:00Z", "labels": labels,
        "annotations": {**labels, "batch.example.com/group": "llm-pretrain-" + uid("group")},
        "ownerReferences": [{"apiVersion": "batch.example.com/v1", "kind": "Job", "name": "llm-pretrain",
                             "uid": uid("job"), "controller": True, "blockOwnerDeletion": True}],
    }
    managed = {"f:metadata": fields({"labels": labels, "annotations": metadata["annotations"]}), "f:spec": fields(spec)}
    metadata["managedFields"] = [{"manager": "job-controller", "operation": "Update", "apiVersion": "v1",
                                  "time": "2026-03-02T09:15:00Z", "fieldsType": "FieldsV1", "fieldsV1": managed}]
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": spec, "status": {"phase": "Pending", "qosClass": "Burstable"}}


def review(options):
    kind = {"group": "", "version": "v1", "kind": "Pod"}
    resource = {"group": "", "version": "v1", "resource": "pods"}
    request = {
        "uid": uid("review"), "kind": kind, "resource": resource, "requestKind": kind, "requestResource": resource,
        "name": "llm-pretrain-worker-17", "namespace": NAMESPACE, "operation": "CREATE",
        "userInfo": {"username": "system:serviceaccount:batch-system:job-controller", "uid": uid("user"),
                     "groups": ["system:serviceaccounts", "system:serviceaccounts:batch-system", "system:authenticated"]},
        "object": pod(options), "oldObject": None, "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    }
    whole = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}
    return json.dumps(whole, separators=(",", ":"), ensure_ascii=False).encode()


size = int(sys.argv[1]) if len(sys.argv) > 1 else 16384
count = 1
while len(review(count)) < size:
    count += 1
sys.stdout.buffer.write(review(count))
