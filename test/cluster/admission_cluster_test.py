"""Admission as kubectl's user meets it: a real API server, a real ValidatingWebhookConfiguration, the real server."""
import json
import pathlib
import sys
import tempfile
import unittest

from apiserver import ApiServer, assets, wait_until, webhook_entry

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "server"))
from client import HOST  # noqa: E402  (found by the line above)
from guard import Guard, authority  # noqa: E402  (found by the line above)
from inputs import policy_text, profiles_text  # noqa: E402  (found by the line above)

LABEL = "volcano.sh/job-name"
DAEMON_SETS = "system:serviceaccount:kube-system:daemon-set-controller"
AUDIT_POLICY = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [
    {"level": "Metadata", "resources": [{"group": "", "resources": ["pods", "pods/ephemeralcontainers"]}]}, {"level": "None"}]}


def rule(operation, resource):
    return {"apiGroups": [""], "apiVersions": ["v1"], "operations": [operation], "resources": [resource], "scope": "Namespaced"}


RULES = [rule("CREATE", "pods"), rule("UPDATE", "pods/ephemeralcontainers")]
LABEL_GUARD = rule("UPDATE", "pods")


def selector(value):
    return {"matchLabels": {LABEL: value}}


def pod(name, profile="volcano", namespace="team-a", **spec):
    """A Pod that keeps to the boundary, unless `spec` says otherwise."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace, "labels": {LABEL: profile}},
            "spec": {"schedulerName": "volcano", "containers": [{"name": "main", "image": "busybox:1.36"}]} | spec}


def crossing(name, profile="volcano"):
    """A Pod that violates four checks."""
    body = pod(name, profile, nodeName="gpu-7", hostNetwork=True, volumes=[{"name": "root", "hostPath": {"path": "/"}}])
    body["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    return body


def crosses(name, profile):
    """What the guard says of crossing()."""
    return (f"Pod team-a/{name} crosses the placement boundary of profile {profile}: "
            '[node-pin] spec.nodeName pins node "gpu-7", leave the choice to the scheduler; '
            '[privileged] spec.containers[0] "main" is privileged, remove securityContext.privileged; '
            "[host-namespace] spec.hostNetwork gives the Pod the node's network, remove it; "
            '[host-path] spec.volumes[0] "root" is a path of the node, "/", use an emptyDir or a PersistentVolumeClaim')


def setUpModule():
    if not assets():
        raise unittest.SkipTest("KUBEBUILDER_ASSETS does not name a folder with etcd, kube-apiserver and kubectl")


class Admission(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.audit_log = folder / "audit.jsonl"
        (folder / "audit-policy.json").write_text(json.dumps(AUDIT_POLICY))
        cls.guard = cls.enterClassContext(Guard(
            profiles=profiles_text({"name": "volcano", "workloadSelector": selector("volcano")},
                                   {"name": "gentle", "workloadSelector": selector("gentle"), "mode": "warn"},
                                   {"name": "silent", "workloadSelector": selector("silent"), "mode": "audit"}),
            policy=policy_text({"team-a": "team-a"}, trustedDaemonSetServiceAccounts=["team-a/gpu-monitor"])))
        cls.api = cls.enterClassContext(ApiServer(flags=[
            f"--audit-policy-file={folder}/audit-policy.json", f"--audit-log-path={cls.audit_log}", "--audit-log-mode=blocking"]))
        for namespace in ("team-a", "lonely"):
            cls.api.create_namespace(namespace)
        for profile in ("volcano", "gentle", "silent"):
            cls.register(profile, cls.guard.port)
        wait_until("the webhook is in force", lambda: "denied the request" in cls.create(crossing("first"), "--dry-run=server").stderr)

    @classmethod
    def register(cls, profile, port):
        """What the chart renders for a profile with labelGuard, for a server on loopback."""
        name = f"validate-{profile}.guard.xila.us"
        cls.api.validating_webhook(f"xila-guard-{profile}", [webhook_entry(
            name, f"https://{HOST}:{port}/validate/{profile}", authority().ca_bundle(), [*RULES, LABEL_GUARD],
            objectSelector=selector(profile))])

    @classmethod
    def create(cls, body, *flags):
        return cls.api.kubectl("create", "-f", "-", *flags, stdin=json.dumps(body), check=False)

    def created(self, body, *flags):
        done = self.create(body, *flags)
        self.assertEqual((done.returncode, done.stdout), (0, f"pod/{body['metadata']['name']} created\n"), done.stderr)
        return done

    def denied(self, body, reason, *flags, profile="volcano"):
        done = self.create(body, *flags)
        self.assertEqual(done.stderr, f'Error from server (Forbidden): error when creating "STDIN": admission webhook '
                                      f'"validate-{profile}.guard.xila.us" denied the request: {reason}\n')
        self.assertEqual((done.returncode, done.stdout), (1, ""))

    def get(self, name):
        return self.api.request("GET", f"/api/v1/namespaces/team-a/pods/{name}")

    def annotations(self, name, verb="create"):
        """The guard's audit annotations in the API server's own log of a request."""
        for line in self.audit_log.read_text().splitlines():
            event = json.loads(line)
            if event["verb"] == verb and event["objectRef"].get("name") == name:
                return {key.split("/")[1]: value for key, value in event.get("annotations", {}).items() if ".guard.xila.us/" in key}
        return None

    def test_a_pod_inside_the_boundary_is_created(self):
        self.assertEqual(self.created(pod("good")).stderr, "")
        self.assertEqual(self.get("good")[0], 200)
        self.assertEqual(self.annotations("good"), {"decision": "allowed", "profile": "volcano", "tenant": "team-a", "checks": ""})

    def test_a_denial_names_all_four_checks(self):
        self.denied(crossing("bad"), crosses("bad", "volcano"))
        self.assertEqual(self.get("bad")[0], 404)
        self.assertEqual(self.annotations("bad"), {"decision": "denied", "profile": "volcano", "tenant": "team-a",
                                                   "checks": "node-pin,privileged,host-namespace,host-path"})

    def test_server_side_dry_run_gets_the_same_answer_and_its_own_label(self):
        before = self.guard.metric("xila_guard_reviews_total", dry_run="true")
        done = self.api.kubectl("apply", "--dry-run=server", "-f", "-", stdin=json.dumps(pod("dry")))
        self.assertEqual(done.stdout, "pod/dry created (server dry run)\n")
        self.denied(crossing("dry"), crosses("dry", "volcano"), "--dry-run=server")
        self.assertEqual(self.get("dry")[0], 404)
        self.assertEqual(self.guard.metric("xila_guard_reviews_total", dry_run="true"), before + 2)

    def test_a_profile_in_mode_warn_admits_and_warns(self):
        done = self.created(crossing("warned", "gentle"))
        warnings = [line for line in done.stderr.splitlines() if line.startswith("Warning: ")]
        self.assertEqual(len(warnings), 4, done.stderr)
        for check, warning in zip(("node-pin", "privileged", "host-namespace", "host-path"), warnings):
            self.assertIn(f"[{check}] ", warning)
        self.assertEqual(self.annotations("warned")["decision"], "warned")

    def test_a_profile_in_mode_audit_admits_in_silence(self):
        self.assertEqual(self.created(crossing("audited", "silent")).stderr, "")
        self.assertEqual(self.annotations("audited"), {"decision": "audited", "profile": "silent", "tenant": "team-a",
                                                       "checks": "node-pin,privileged,host-namespace,host-path"})

    def test_a_namespace_without_a_tenant_is_denied(self):
        done = self.create(pod("homeless", namespace="lonely"))
        self.assertEqual(done.returncode, 1)
        self.assertIn('[tenant] namespace lonely belongs to no tenant', done.stderr)

    def test_a_server_that_is_down_denies(self):
        with Guard() as gone:
            port = gone.port
        self.register("down", port)
        body = pod("unlucky", "down")
        wait_until("the webhook is in force", lambda: self.create(body, "--dry-run=server").returncode == 1)
        done = self.create(body)
        self.assertEqual(done.returncode, 1)
        self.assertIn('failed calling webhook "validate-down.guard.xila.us": failed to call webhook: ', done.stderr)
        self.assertIn("connection refused", done.stderr)
        self.assertEqual(self.get("unlucky")[0], 404)

    def bound(self, name):
        """A Pod that has its node, as a scheduler gives it."""
        self.created(pod(name))
        self.api.must("POST", f"/api/v1/namespaces/team-a/pods/{name}/binding", {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": {"apiVersion": "v1", "kind": "Node", "name": "gpu-1"}})
        self.assertEqual(self.get(name)[1]["spec"]["nodeName"], "gpu-1")

    def test_a_debug_container_is_judged_and_the_node_of_a_bound_pod_is_not(self):
        self.bound("running")

        def debug(container, profile):
            return self.api.kubectl("-n", "team-a", "debug", "running", "--image=busybox:1.36", "-c", container, f"--profile={profile}",
                                    "--", "sleep", "1", check=False)

        done = debug("root", "sysadmin")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.splitlines()[-1],
                         'Error from server (Forbidden): admission webhook "validate-volcano.guard.xila.us" denied the request: Pod '
                         'team-a/running crosses the placement boundary of profile volcano: [privileged] spec.ephemeralContainers[0] '
                         '"root" is privileged, remove securityContext.privileged')
        done = debug("plain", "general")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([c["name"] for c in self.get("running")[1]["spec"]["ephemeralContainers"]], ["plain"])

    def test_the_label_cannot_be_taken_off_where_it_is_guarded(self):
        self.bound("labelled")
        done = self.api.kubectl("-n", "team-a", "label", "pod", "labelled", f"{LABEL}-", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('[label] metadata.labels would no longer select the Pod for profile volcano', done.stderr)
        self.assertEqual(self.get("labelled")[1]["metadata"]["labels"][LABEL], "volcano")
        done = self.api.kubectl("-n", "team-a", "label", "pod", "labelled", "other=label")
        self.assertEqual(done.stdout, "pod/labelled labeled\n")

    def test_only_the_daemon_set_controller_and_only_for_a_trusted_account_is_exempt(self):
        self.api.kubectl("create", "clusterrolebinding", "daemon-sets", "--clusterrole=cluster-admin", f"--user={DAEMON_SETS}")

        def daemon_pod(name, account):
            body = crossing(name)
            body["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "monitor",
                                                    "uid": "00000000-0000-4000-8000-00000000000d", "controller": True}]
            body["spec"]["serviceAccountName"] = account
            return body

        self.created(daemon_pod("trusted", "gpu-monitor"), f"--as={DAEMON_SETS}")
        self.assertEqual(self.annotations("trusted")["decision"], "exempt")
        self.denied(daemon_pod("by-a-person", "gpu-monitor"), crosses("by-a-person", "volcano"))
        self.denied(daemon_pod("other-account", "default"), crosses("other-account", "volcano"), f"--as={DAEMON_SETS}")

    def test_deleting_is_nobodys_business(self):
        self.created(pod("short-lived"))
        done = self.api.kubectl("-n", "team-a", "delete", "pod", "short-lived", "--grace-period=0", "--force", "--wait=false")
        self.assertIn('pod "short-lived" force deleted', done.stdout)


if __name__ == "__main__":
    unittest.main()
