"""The renderings under a real API server: it takes every object, and calls the webhooks for the Pods they are for.

No admission server runs here. With failurePolicy Fail a Pod that a webhook is called for is refused in that webhook's
name, which tells which were called.
"""
import json
import re
import sys
import unittest

from harness import ChartTest, PROFILES, ROOT, TLS, integrated, merged, missing, profile

sys.path.insert(0, str(ROOT / "test" / "cluster"))
from apiserver import ApiServer, assets, wait_until  # noqa: E402

# Not part of Kubernetes: the API server of the tests has no such types.
FOREIGN = {"Issuer", "Certificate", "ServiceMonitor", "PodMonitor", "PrometheusRule"}
LABEL = {"volcano.sh/job-name": "j"}

api = None


def setUpModule():
    global api
    reason = missing()
    if not reason and not assets():
        reason = "KUBEBUILDER_ASSETS names no folder with etcd, kube-apiserver and kubectl"
    if reason:
        raise unittest.SkipTest(reason)
    api = ApiServer()
    unittest.addModuleCleanup(api.close)
    api.__enter__()
    api.create_namespace("guard", {"pod-security.kubernetes.io/enforce": "restricted"})
    for name, labels in (("team", {"guard.xila.us/tenant": "team"}), ("named", {}), ("free", {})):
        api.create_namespace(name, labels)


def pod(name="p", labels=None, scheduler=None):
    spec = {"containers": [{"name": "c", "image": "x"}]} | ({"schedulerName": scheduler} if scheduler else {})
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels or {}}, "spec": spec}


def callers(method, path, body, content_type="application/json"):
    """The webhooks that the API server called, by their names' first parts; none: it took the request."""
    status, answer = api.request(method, path, body, content_type)
    if status < 300:
        return set()
    found = set(re.findall(r'failed calling webhook "(\S+)\.guard\.xila\.us"', answer["message"]))
    if not found:
        raise AssertionError(answer["message"])
    return found


def creating(namespace, labels=None, scheduler=None):
    return callers("POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All", pod("probe", labels, scheduler))


class Renderings(ChartTest):
    def accepted(self, out):
        kept = [document for document in out.documents if document["kind"] not in FOREIGN]
        done = api.kubectl("apply", "--dry-run=server", "--warnings-as-errors", "-f", "-", check=False,
                           stdin="\n---\n".join(json.dumps(document) for document in kept))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_of_the_default_release_and_of_every_profile_are_accepted(self):
        self.accepted(self.render())
        self.accepted(self.render(merged(TLS, {
            "integrations": {path.stem: True for path in PROFILES}, "policy": {"tenants": {"namespaces": {"named": "x"}}},
            "enforcement": {"enabled": True}, "networkPolicy": {"enabled": True}})))

    def test_of_names_at_their_limits_are_accepted(self):
        selectors = [{"matchLabels": {"a": "1e6"}}, {"matchLabels": {"on": "0123"}}]
        entry = profile("p" * 63, workloadSelector=..., workloadSelectors=selectors, schedulerName="My.sched_1", routeGuard=True)
        self.accepted(self.render(integrated(entry), release="r" * 53))

    def test_of_every_knob_are_accepted(self):
        self.accepted(self.render(merged(integrated(profile()), {"enforcement": {"webhook": {
            "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 12345678}],
            "clientCA": {"configMapName": "x"}, "podDisruptionBudget": {"minAvailable": "50%", "maxUnavailable": None},
            "service": {"ipFamilyPolicy": "SingleStack", "ipFamilies": ["IPv4"]}, "bindAddress": "::"}}})))

    def test_have_pods_that_pass_pod_security_restricted(self):
        out = self.render(integrated(profile()))
        for document in out.of("Deployment"):
            template = document["spec"]["template"]
            body = {"metadata": {"name": "p", "labels": template["metadata"]["labels"]}, "spec": template["spec"]}
            api.must("POST", "/api/v1/namespaces/guard/pods?dryRun=All", body)


class Calls(ChartTest):
    def tearDown(self):
        api.kubectl("delete", "validatingwebhookconfigurations", "--all")
        wait_until("webhooks are gone", lambda: not creating("team", LABEL, "volcano"))

    def install(self, values):
        """Applies the configurations alone, and waits until the API server acts on them."""
        configs = self.render(values).of("ValidatingWebhookConfiguration")
        api.kubectl("apply", "-f", "-", stdin="\n---\n".join(map(json.dumps, configs)))
        wait_until("webhooks are in force", lambda: creating("team", LABEL, "volcano"))

    def test_go_by_the_label(self):
        self.install(integrated(profile()))
        self.assertEqual(creating("team", LABEL), {"validate-volcano"})
        self.assertEqual(creating("free", LABEL), {"validate-volcano"})
        self.assertEqual(creating("team", None, "volcano"), set())
        for namespace in ("guard", "kube-system"):
            self.assertEqual(callers("POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All", self.restricted(LABEL)), set())

    def restricted(self, labels):
        """A Pod that Pod Security lets into the release's namespace."""
        body = pod("probe", labels)
        body["spec"]["securityContext"] = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
        body["spec"]["containers"][0]["securityContext"] = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
        return body

    def test_go_by_the_route_where_it_is_guarded(self):
        self.install(integrated(profile(routeGuard=True)))
        self.assertEqual(creating("team", None, "volcano"), {"route-volcano"})
        self.assertEqual(creating("team"), set())
        self.assertEqual(creating("team", None, "volcano-2"), set())

    def test_reach_debug_containers_and_labels_that_are_taken_off(self):
        for name, labels in (("labelled", LABEL), ("routed", {})):
            api.must("POST", "/api/v1/namespaces/team/pods", pod(name, labels, "volcano"))
        self.addCleanup(api.kubectl, "delete", "pods", "-n", "team", "--all", "--force", "--grace-period=0")
        debug = lambda name: callers(
            "PATCH", f"/api/v1/namespaces/team/pods/{name}/ephemeralcontainers?dryRun=All",
            {"spec": {"ephemeralContainers": [{"name": "d", "image": "x"}]}}, "application/strategic-merge-patch+json")
        relabel = lambda: callers("PATCH", "/api/v1/namespaces/team/pods/labelled?dryRun=All",
                                  {"metadata": {"labels": {"volcano.sh/job-name": None}}}, "application/merge-patch+json")
        self.install(integrated(profile()))
        self.assertEqual((debug("labelled"), debug("routed"), relabel()), ({"validate-volcano"}, set(), set()))
        self.tearDown()
        self.install(integrated(profile(routeGuard=True, labelGuard=True)))
        self.assertEqual(debug("routed"), {"route-volcano"})
        self.assertTrue(debug("labelled"))
        self.assertTrue(relabel())

    def test_cover_the_tenants_in_the_strict_posture(self):
        self.install(merged(TLS, {"enforcement": {"enabled": True}, "policy": {"tenants": {"namespaces": {"named": "x"}}}}))
        self.assertEqual(creating("team"), {"validate-enforcement"})
        self.assertEqual(creating("named"), {"validate-enforcement-2"})
        self.assertEqual(creating("free", LABEL, "volcano"), set())
