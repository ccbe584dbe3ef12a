"""The shipped profiles against Pods that a real API server sent while the real orchestrator ran."""
import json
import unittest

from harness import ChartTest, PROFILES, ROOT, yaml

REVIEWS = ROOT / "test" / "fixtures" / "reviews"

# Pods of the orchestrator that its labels do not reach when they are created, as its profile's caveats say.
UNREACHED = {
    "kueue": {"kueue-statefulset-pod-create", "unqueued-job-pod-create", "unqueued-pod-create", "kueue-own-controller-pod-create"},
    "volcano": {"deployment-pod-default-scheduler", "daemonset-pod"},
    "yunikorn": {"yunikorn-job-pod-annotation-only-create", "yunikorn-optout-label-pod-create", "admission-down-job-pod-create",
                 "admission-down-explicit-scheduler-job-pod-create", "yunikorn-own-scheduler-pod-create",
                 "yunikorn-own-admission-pod-create-hostnetwork"},
}


def entry(path):
    [only] = yaml.safe_load(path.read_text())["orchestratorIntegrations"]
    return only


def matches(selector, labels):
    """Kubernetes' label selector, as far as the shipped profiles use it."""
    for term in selector["matchExpressions"]:
        if term["operator"] == "Exists" and term["key"] not in labels:
            return False
        if term["operator"] == "In" and labels.get(term["key"]) not in term["values"]:
            return False
        if term["operator"] not in ("Exists", "In"):
            raise AssertionError(f"operator {term['operator']} is not known to this test")
    return True


class Shipped(ChartTest):
    # name -> schedulerName, verification
    TABLE = {
        "armada": ("default-scheduler", "example"), "grove": ("kai-scheduler", "example"), "jobset": ("default-scheduler", "example"),
        "kai": ("kai-scheduler", "example"), "kuberay": ("default-scheduler", "example"), "kueue": ("default-scheduler", "verified"),
        "leaderworkerset": ("default-scheduler", "example"), "runai": ("runai-scheduler", "example"),
        "volcano": ("volcano", "verified"), "yunikorn": ("yunikorn", "example"),
    }

    def test_are_those_of_the_table(self):
        found = {path.stem: entry(path) for path in PROFILES}
        self.assertEqual({name: (e["schedulerName"], e["verification"]) for name, e in found.items()}, self.TABLE)
        for name, e in found.items():
            self.assertEqual(e["name"], name)

    def test_say_how_far_they_are_verified_and_what_to_beware_of(self):
        for path in PROFILES:
            text = path.read_text()
            level = entry(path)["verification"].capitalize()
            self.assertIn(f"\n# {level}. ", text, path.name)
            self.assertIn("\n# Caveats\n", text, path.name)

    def test_select_the_recorded_pods_of_their_orchestrator(self):
        for name, unreached in UNREACHED.items():
            e = entry(next(path for path in PROFILES if path.stem == name))
            selectors = e.get("workloadSelectors") or [e["workloadSelector"]]
            missed = set()
            for file in sorted((REVIEWS / name).glob("*.json")):
                request = json.loads(file.read_text())["request"]
                if request["operation"] != "CREATE" or request["kind"]["kind"] != "Pod":
                    continue
                labels = request["object"]["metadata"].get("labels") or {}
                if not any(matches(selector, labels) for selector in selectors):
                    missed.add(file.stem)
            self.assertEqual(missed, unreached, name)


if __name__ == "__main__":
    unittest.main()
