"""Observe as its operator meets it: the real controller on a real API server, each finding made and unmade by doing the thing."""
import json
import unittest

from apiserver import ApiServer, assets, wait_until
from observer import (POOL, ROOT, RULES, TENANT, Observer, delete_pod, events_of, make_node, make_pod, policy, relabel_node)


def setUpModule():
    if not assets():
        raise unittest.SkipTest("KUBEBUILDER_ASSETS does not name a folder with etcd, kube-apiserver and kubectl")


class Findings(unittest.TestCase):
    """One cluster and one controller; each test has a namespace, a tenant and a node of its own."""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.api = cls.enterClassContext(ApiServer())
        cls.api.create_namespace("early", {TENANT: "early"})
        make_node(cls.api, "n-early", pool="early")
        make_pod(cls.api, "early", "before", "n-early", hostNetwork=True)
        alone = {"name": "alone", "tenants": ["bank"], "exclusive": True}
        cls.observer = cls.enterClassContext(Observer(
            cls.api, cls.api.service_account("observe", RULES), rules=policy(alone)))

    def setUp(self):
        self.name = self._testMethodName.removeprefix("test_").replace("_", "-")[:40]
        self.api.create_namespace(self.name, {TENANT: self.name})
        make_node(self.api, f"n-{self.name}", pool=self.name)

    def pod(self, name="p", **more):
        return make_pod(self.api, self.name, name, f"n-{self.name}", **more)

    def opened(self, finding, **more):
        return self.observer.step(namespace=self.name, finding=finding, change="opened", **more)

    def resolved(self, finding, **more):
        return self.observer.step(namespace=self.name, finding=finding, change="resolved", **more)

    def events(self, reason, pod="p"):
        return [event for event in events_of(self.api, self.name, reason=reason) if event["regarding"]["name"] == pod]

    def test_a_pod_from_before_the_guard(self):
        step = self.observer.step(namespace="early", finding="host-namespace", change="opened")
        self.assertTrue(step["rebuilt"])
        self.assertEqual((step["tenant"], step["profile"], step["pod"], step["node"]), ("early", "volcano", "before", "n-early"))
        self.assertEqual([one["field"] for one in step["evidence"]], ["spec.hostNetwork"])
        delete_pod(self.api, "early", "before")
        self.observer.step(namespace="early", finding="host-namespace", change="resolved", resolution="pod-gone")

    def test_a_node_is_relabelled(self):
        self.pod()
        relabel_node(self.api, f"n-{self.name}", {POOL: "elsewhere"})
        step = self.opened("drift", check="placement/tenant-pools")
        self.assertFalse(step["rebuilt"])
        self.assertEqual(step["evidence"][0] | {"message": ""}, {
            "field": f"metadata.labels[{POOL}]", "wanted": f"{POOL} in ({self.name}, shared)", "found": f"{POOL}=elsewhere", "message": ""})
        wait_until("Event", lambda: self.events("PlacementDrift"))
        relabel_node(self.api, f"n-{self.name}", {POOL: "shared"})
        self.assertEqual(self.resolved("drift")["id"], step["id"])
        [event] = wait_until("Event", lambda: self.events("PlacementResolved"))
        self.assertEqual((event["type"], event["note"], event["reportingController"], event["related"]["name"]),
                         ("Normal", "Resolved: placement/tenant-pools.", "guard.xila.us/observe", f"n-{self.name}"))

    def test_a_pod_on_a_foreign_node(self):
        make_pod(self.api, self.name, "p", "n-early")
        self.opened("placement/tenant-pools", node="n-early")
        [event] = wait_until("Event", lambda: self.events("PlacementViolation"))
        self.assertEqual(event["note"], "The Pod's node does not satisfy placement rule tenant-pools, or is shared with another tenant "
                                        "against it.")
        delete_pod(self.api, self.name, "p")
        self.resolved("placement/tenant-pools", resolution="pod-gone")

    def test_a_repetition_moves_the_count_alone(self):
        self.pod()
        for round in (1, 2, 3):
            relabel_node(self.api, f"n-{self.name}", {POOL: "elsewhere"})
            wait_until("opened", lambda: len(self.observer.steps(namespace=self.name, change="opened")) == round)
            relabel_node(self.api, f"n-{self.name}", {POOL: self.name})
            wait_until("resolved", lambda: len(self.observer.steps(namespace=self.name, change="resolved")) == round)
        [event] = wait_until("the third", lambda: [event for event in self.events("PlacementDrift")
                                                   if event.get("series", {}).get("count") == 3])
        self.assertEqual(len({step["id"] for step in self.observer.steps(namespace=self.name)}), 1)
        self.assertEqual(len(self.events("PlacementResolved")), 1)

    def test_a_namespace_is_retagged(self):
        self.pod()
        self.api.label_namespace(self.name, {TENANT: "others"})
        step = self.opened("drift", check="tenant")
        self.assertEqual((step["tenant"], step["evidence"][0]["wanted"], step["evidence"][0]["found"]),
                         ("others", f"tenant {self.name}", "tenant others"))
        self.opened("drift", check="placement/tenant-pools")
        self.api.label_namespace(self.name, {TENANT: None})
        self.observer.step(namespace=self.name, change="changed", check="tenant")
        self.api.label_namespace(self.name, {TENANT: self.name})
        self.resolved("drift", check="tenant")
        self.resolved("drift", check="placement/tenant-pools")

    def test_a_pod_is_pinned_by_its_creator(self):
        self.api.must("POST", f"/api/v1/namespaces/{self.name}/pods", {
            "metadata": {"name": "p", "labels": {"volcano.sh/job-name": "j"}},
            "spec": {"schedulerName": "volcano", "nodeName": f"n-{self.name}", "containers": [{"name": "c", "image": "x"}]}})
        step = self.opened("pinned")
        self.assertTrue(step["certain"])
        self.assertEqual(step["evidence"][0]["found"], 'set by "unknown"')  # the client named no manager
        # Erasing the evidence afterwards helps nobody.
        erase = {"metadata": {"managedFields": [{}]}}
        self.api.must("PATCH", f"/api/v1/namespaces/{self.name}/pods/p", erase, "application/merge-patch+json")
        make_pod(self.api, self.name, "later", f"n-{self.name}", hostPID=True)
        self.opened("host-namespace", pod="later")
        self.assertEqual(self.observer.steps(namespace=self.name, finding="pinned", change="resolved"), [])

    def test_a_pod_whose_evidence_was_erased(self):
        make_pod(self.api, self.name, "p")
        erase = {"metadata": {"managedFields": [{}]}}
        path = f"/api/v1/namespaces/{self.name}/pods/p"
        self.api.must("PATCH", path, erase, "application/merge-patch+json")
        self.api.must("POST", f"{path}/binding", {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": f"n-{self.name}"}})
        step = self.opened("pinned")
        self.assertEqual((step["certain"], step["evidence"][0]["found"]), (False, "unknown"))
        self.assertEqual(self.events("PlacementViolation"), [])

    def test_a_pod_bound_by_hand_is_not_pinned(self):
        self.pod(hostIPC=True)
        self.opened("host-namespace")
        self.assertEqual(self.observer.steps(namespace=self.name, finding="pinned"), [])

    def test_a_claim_on_a_path_of_the_node(self):
        volume = {"metadata": {"name": f"pv-{self.name}"}, "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"}, "storageClassName": "",
            "claimRef": {"namespace": self.name, "name": "data"}}}
        self.api.must("POST", "/api/v1/persistentvolumes", volume)
        claims = f"/api/v1/namespaces/{self.name}/persistentvolumeclaims"
        self.api.must("POST", claims, {"metadata": {"name": "data"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "",
            "volumeName": f"pv-{self.name}"}})
        self.pod(volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}])
        step = self.opened("host-path-claim")
        self.assertEqual(step["evidence"][0]["found"], 'hostPath "/data"')
        unprotected = {"metadata": {"finalizers": None}}
        self.api.must("PATCH", f"{claims}/data", unprotected, "application/merge-patch+json")
        self.api.must("DELETE", f"{claims}/data")
        self.resolved("host-path-claim")

    def test_a_pod_without_the_label(self):
        self.pod(labels={})
        self.opened("route")
        label = {"metadata": {"labels": {"volcano.sh/job-name": "j"}}}
        self.api.must("PATCH", f"/api/v1/namespaces/{self.name}/pods/p", label, "application/merge-patch+json")
        self.resolved("route", resolution="holds")

    def test_an_unaccepted_scheduler(self):
        self.pod(schedulerName="my-own")
        self.opened("scheduler")

    def test_two_tenants_on_an_exclusive_node(self):
        self.api.label_namespace(self.name, {TENANT: "bank"})
        self.api.create_namespace("guests", {TENANT: "guests"})
        relabel_node(self.api, f"n-{self.name}", {POOL: "shared"})
        self.pod("vault")
        make_pod(self.api, "guests", "guest", f"n-{self.name}")
        mine = self.opened("drift", check="placement/alone")
        self.assertEqual(mine["evidence"][0]["found"], "guests")
        theirs = self.observer.step(namespace="guests", finding="placement/alone", change="opened")
        self.assertEqual(theirs["evidence"][0]["found"], "bank")
        # What a tenant can read names nobody else.
        [event] = wait_until("Event", lambda: events_of(self.api, "guests"))
        self.assertNotIn("bank", json.dumps(event))
        self.assertNotIn("vault", json.dumps(event))
        delete_pod(self.api, "guests", "guest")
        self.resolved("drift", check="placement/alone")

    def test_a_node_replaced_under_its_name(self):
        relabel_node(self.api, f"n-{self.name}", {POOL: "elsewhere"})
        self.pod()
        first = self.opened("placement/tenant-pools")
        self.api.must("DELETE", f"/api/v1/nodes/n-{self.name}")
        make_node(self.api, f"n-{self.name}", pool="elsewhere")
        self.resolved("placement/tenant-pools", resolution="node-replaced", id=first["id"])
        steps = wait_until("the new node's", lambda: [step for step in self.observer.steps(namespace=self.name, change="opened")
                                                      if step["id"] != first["id"]])
        self.assertNotEqual(steps[0]["nodeUid"], first["nodeUid"])

    def test_findings_and_metrics_show_what_is_open(self):
        self.pod(hostPID=True)
        step = self.opened("host-namespace")
        document = self.observer.findings(f"?tenant={self.name}")
        self.assertEqual([one["id"] for one in document["findings"]], [step["id"]])
        self.assertEqual((document["leading"], document["judged"], document["cut"]), (True, True, False))
        series = {"finding": "host-namespace", "tenant": self.name}
        self.assertEqual(self.observer.metric("xila_guard_findings", **series), 1)
        delete_pod(self.api, self.name, "p")
        self.resolved("host-namespace")
        self.assertEqual(self.observer.metric("xila_guard_findings", **series), 0)
        self.assertEqual(self.observer.findings(f"?tenant={self.name}")["findings"], [])

    def test_the_policy_changes(self):
        self.pod()
        document = policy({"name": "late", "tenants": [self.name], "require": {"matchLabels": {"late": "yes"}}},
                          {"name": "alone", "tenants": ["bank"], "exclusive": True})
        before = self.observer.policy.read_text()
        self.observer.policy.write_text(json.dumps(document))
        self.opened("drift", check="placement/late")
        self.observer.policy.write_text(before)
        self.resolved("drift", check="placement/late", resolution="policy")


    def test_every_line_is_as_the_schema_says(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("the Python package jsonschema is not installed")
        schema = json.loads((ROOT / "docs" / "findings.schema.json").read_text())
        self.pod(hostPID=True)
        self.opened("host-namespace")
        delete_pod(self.api, self.name, "p")
        self.resolved("host-namespace")
        for line in self.observer.steps():
            jsonschema.validate(line, schema)
            self.assertEqual(set(line), set(schema["properties"]))


class Silence(unittest.TestCase):
    def test_a_profile_that_selects_nobody(self):
        with ApiServer() as api:
            api.create_namespace("a", {TENANT: "a"})
            make_node(api, "n", pool="shared")
            with Observer(api) as observer:
                make_pod(api, "a", "p", "n", labels={"volcano.sh/queue": "q"})
                step = observer.step(finding="profile-silent", change="opened")
                self.assertEqual((step["profile"], step["pod"], step["tenant"]), ("volcano", None, None))
                make_pod(api, "a", "q", "n")
                observer.step(finding="profile-silent", change="resolved")


class Once(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.api = cls.enterClassContext(ApiServer())

    def test_one_look_reports_and_says_so_by_its_exit_code(self):
        observer = Observer(self.api)
        self.api.create_namespace("team-a", {TENANT: "team-a"})
        make_node(self.api, "n-1", pool="team-a")
        make_pod(self.api, "team-a", "good", "n-1")
        code, out, err = observer.once()
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out, "0 findings. Read: 1 bound Pod, 1 node, 5 namespaces.\n")

        make_pod(self.api, "team-a", "bad", "n-1", hostNetwork=True, hostPID=True)
        code, out, err = observer.once()
        self.assertEqual((code, err), (1, ""))
        self.assertEqual(out, """BY TENANT
TENANT  FINDING         PODS
team-a  host-namespace  1

BY NODE
NODE  FINDING         PODS
n-1   host-namespace  1

BY FINDING
FINDING         TENANT  POD         NODE  WHY
host-namespace  team-a  team-a/bad  n-1   spec.hostNetwork gives the Pod the node's network, remove it (and 1 more)

1 finding of 1 tenant on 1 node. Read: 2 bound Pods, 1 node, 5 namespaces.
""")
        code, out, _ = observer.once("json")
        self.assertEqual(code, 1)
        document = json.loads(out)
        self.assertEqual((document["total"], document["byFinding"], document["byTenant"], document["byNode"]),
                         (1, {"host-namespace": 1}, {"team-a": 1}, {"n-1": 1}))
        code, out, _ = observer.once("sarif")
        self.assertEqual(code, 1)
        [result] = json.loads(out)["runs"][0]["results"]
        self.assertEqual((result["ruleId"], result["level"]), ("host-namespace", "error"))

    def test_what_may_not_be_read_is_an_error_and_named(self):
        pods = [{"apiGroups": [""], "resources": ["pods", "namespaces", "nodes"], "verbs": ["list", "watch"]}]
        code, _, err = Observer(self.api, self.api.service_account("half", pods)).once()
        self.assertEqual(code, 2)
        self.assertIn('cannot list resource "persistentvolumeclaims"', err)
        self.assertIn("not judged: host-path-claim", err)
        code, out, err = Observer(self.api, self.api.service_account("none", [])).once()
        self.assertEqual((code, out), (2, ""))
        self.assertIn('namespaces cannot be listed: the API server answered 403: namespaces is forbidden', err)

    def test_no_api_server_is_an_error(self):
        kubeconfig = self.api.make_kubeconfig(self.api.folder / "nowhere", server="https://127.0.0.1:1")
        code, out, err = Observer(self.api, kubeconfig).once()
        self.assertEqual((code, out), (2, ""))
        self.assertIn("namespaces cannot be listed: cannot connect to https://127.0.0.1:1", err)


if __name__ == "__main__":
    unittest.main()
