"""What the tests post and configure: recorded bodies, reviews made by hand, and the two files as text."""
import copy
import functools
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "test" / "fixtures"
REVIEWS = FIXTURES / "reviews"
CASES = FIXTURES / "cases"
COMMON = CASES / "_common"

FOUR_CHECKS = {"host-namespace", "host-path", "node-pin", "privileged"}
# The begin of a review by hand; what is left to add are the lengths, and "\r\n\r\n".
JSON_HEAD = "POST /validate/volcano?timeout=10s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


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


def policy_text(tenants, **more):
    """A policy file with these static tenants."""
    return json.dumps({"apiVersion": "guard.xila.us/v1alpha1", "kind": "GuardPolicy", "tenants": {"namespaces": tenants}} | more, indent=1)


def profiles_text(*profiles):
    """A profiles file; each profile has a name, and what else it says."""
    selector = {"matchLabels": {"guard.xila.us/workload": "volcano"}}
    entries = [{"schedulerName": "volcano", "workloadSelector": selector} | profile for profile in profiles]
    return json.dumps({"apiVersion": "guard.xila.us/v1alpha1", "kind": "OrchestratorProfiles", "profiles": entries}, indent=1)
