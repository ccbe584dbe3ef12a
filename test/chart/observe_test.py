"""The observe controller: what the default release is."""
from harness import ChartTest, TLS, integrated, merged, profile


class Controller(ChartTest):
    def workload(self, values=None, **where):
        return self.render(values, **where).one("Deployment", component="observe")

    def args(self, values=None, **where):
        return self.workload(values, **where)["spec"]["template"]["spec"]["containers"][0]["args"]

    def test_is_all_there_is_by_default(self):
        self.assertEqual(self.render().kinds(), sorted([
            "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ConfigMap", "Deployment",
            "PodDisruptionBudget"]))

    def test_may_read_and_write_nothing_but_events_and_its_own_lease(self):
        out = self.render()
        self.assertEqual(out.one("ClusterRole", component="observe")["rules"], [
            {"apiGroups": [""], "resources": ["pods", "nodes", "namespaces", "persistentvolumeclaims", "persistentvolumes"],
             "verbs": ["get", "list", "watch"]},
            {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]}])
        self.assertEqual(out.one("Role", component="observe")["rules"], [
            {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]},
            {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "resourceNames": ["demo-xila-guard-observe"],
             "verbs": ["get", "update"]}])
        self.assertIn("--lease-name=demo-xila-guard-observe", self.args())

    def test_is_started_with_what_is_mounted(self):
        self.assertEqual(self.args(integrated(profile())), [
            "observe", "--metrics-bind-address=:8080", "--profiles=/etc/xila-guard/config/profiles.yaml",
            "--policy=/etc/xila-guard/config/policy.yaml", "--external-schedulers=volcano", "--leader-elect",
            "--lease-name=demo-xila-guard-observe", "--settle-after-bind=30s", "--settle-after-relabel=60s", "--log-format=json",
            "--log-level=info"])

    def test_knows_whether_every_pod_was_reviewed(self):
        strict = merged(TLS, {"enforcement": {"enabled": True}})
        self.assertIn("--all-reviewed", self.args(strict))
        self.assertNotIn("--all-reviewed", self.args(merged(strict, {"enforcement": {"failurePolicy": "Ignore"}})))
        self.assertNotIn("--all-reviewed", self.args(integrated(profile())))

    def test_keeps_two_releases_apart(self):
        self.assertNotEqual(self.args(release="a"), self.args(release="b"))

    def test_passes_pod_security_restricted(self):
        pod = self.workload()["spec"]["template"]["spec"]
        self.assertEqual(pod["securityContext"]["runAsNonRoot"], True)
        self.assertEqual(pod["containers"][0]["securityContext"], {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}})

    def test_takes_its_own_knobs(self):
        workload = self.workload({"observe": {
            "replicas": 1, "priorityClassName": "mine", "podLabels": {"a": "1"}, "extraArgs": ["--event-qps=1"],
            "extraEnv": [{"name": "X", "value": "1"}], "settleAfterBind": "0s", "serviceAccount": {"create": False, "name": "sa"}}})
        pod = workload["spec"]["template"]["spec"]
        self.assertEqual((workload["spec"]["replicas"], pod["priorityClassName"], pod["serviceAccountName"]), (1, "mine", "sa"))
        self.assertEqual(workload["spec"]["template"]["metadata"]["labels"]["a"], "1")
        self.assertEqual(pod["containers"][0]["args"][-1], "--event-qps=1")
        self.assertIn("--settle-after-bind=0s", pod["containers"][0]["args"])
        self.assertEqual([entry["name"] for entry in pod["containers"][0]["env"]], ["POD_NAME", "POD_NAMESPACE", "X"])

    def test_is_scraped_like_the_server(self):
        on = {"enabled": True}
        out = self.render({"metrics": {"serviceMonitor": on, "podMonitor": on}, "networkPolicy": on})
        for kind in ("ServiceMonitor", "PodMonitor", "NetworkPolicy", "Service"):
            out.one(kind, component="observe")
        [metrics] = out.one("NetworkPolicy", component="observe")["spec"]["ingress"]
        self.assertEqual(metrics, {"ports": [{"port": "metrics", "protocol": "TCP"}]})

    def test_is_told_of_in_the_notes(self):
        self.assertIn("kubectl port-forward -n guard deployment/demo-xila-guard-observe 8081", self.notes())
        self.assertNotIn("observe", self.notes({"observe": {"enabled": False}}))
