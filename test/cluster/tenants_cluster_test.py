"""Tenants from the live cluster: the real server with --kubeconfig, under the API server whose namespaces it watches."""
import json
import pathlib
import signal
import sys
import threading
import time
import unittest

from apiserver import ApiServer, assets, wait_until, webhook_entry

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "server"))
from client import HOST, Client  # noqa: E402  (found by the line above)
from guard import SANITIZED, Guard, authority  # noqa: E402  (found by the line above)
from inputs import CASES, review  # noqa: E402  (found by the line above)

TENANT = "guard.xila.us/tenant"
READ_NAMESPACES = [{"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "list", "watch"]}]
# What a change may take to count. Sanitizers slow the server down, not the cluster.
PROMPT = 10.0 if SANITIZED else 2.0


def setUpModule():
    if not assets():
        raise unittest.SkipTest("KUBEBUILDER_ASSETS does not name a folder with etcd, kube-apiserver and kubectl")


def pod(name="p"):
    return {"metadata": {"name": name}, "spec": {"schedulerName": "volcano", "containers": [{"name": "c", "image": "busybox:1.36"}]}}


def object_of(case):
    """The Pod of a case of test/fixtures/cases, as its author would post it."""
    body = json.loads((CASES / case / "review.json").read_text())["request"]["object"]
    for key in ("uid", "creationTimestamp"):
        body["metadata"].pop(key, None)
    return body


def create(api, namespace, name="p", dry_run=False, body=None):
    """(status, answer) of a Pod's creation as its author sees it."""
    path = f"/api/v1/namespaces/{namespace}/pods" + ("?dryRun=All" if dry_run else "")
    return api.request("POST", path, body or pod(name))


def register(api, guard):
    """Registers the webhook, and waits: the API server takes a moment to call a new one."""
    api.validating_webhook("xila-guard", [webhook_entry(
        "validate.guard.xila.us", f"https://{HOST}:{guard.port}/validate", authority().ca_bundle())])
    wait_until("the webhook is in force", lambda: create(api, "default", "probe", dry_run=True)[0] == 403)


def watching(api, *flags, rules=READ_NAMESPACES):
    """A guard, not started, that watches the namespaces with an account of its own."""
    return Guard(policy={}, flags=["--kubeconfig", api.service_account("xila-guard", rules), *flags])


class Tenants(unittest.TestCase):
    """What the tests below share. `api` and `guard` are a test's own, or its class's."""
    maxDiff = None

    def start(self, *flags):
        """An API server and a guard for this test alone, which may stop them."""
        self.api = self.enterContext(ApiServer())
        self.guard = self.enterContext(watching(self.api, *flags))
        register(self.api, self.guard)

    def create(self, namespace, **more):
        return create(self.api, namespace, **more)

    def ask(self, namespace, timeout="5s"):
        """The guard's own answer: "tenant", or the denial's message."""
        with Client(self.guard.port, self.guard.context()) as client:
            answer = client.request("POST", f"/validate?timeout={timeout}", json.dumps(review(namespace=namespace)),
                                    {"Content-Type": "application/json"})
        self.assertEqual(answer.status, 200)
        response = answer.response
        self.assertEqual(response["allowed"], bool(response["auditAnnotations"]["tenant"]))
        return response["auditAnnotations"]["tenant"] or response["status"]["message"]

    def becomes(self, namespace, wanted, seconds=PROMPT):
        wait_until(f"{namespace}: {wanted}", lambda: wanted in self.ask(namespace), seconds, 0.005)


class Steady(Tenants):
    """The API server stays up."""

    @classmethod
    def setUpClass(cls):
        cls.api = cls.enterClassContext(ApiServer())
        cls.guard = cls.enterClassContext(watching(cls.api))
        register(cls.api, cls.guard)

    def test_every_change_of_a_namespace_counts_at_once(self):
        self.api.create_namespace("team-a")
        log, over = [], threading.Event()  # (asked, answered, said)

        def ask_on():
            while not over.is_set():
                asked = time.monotonic()
                said = self.ask("team-a")
                log.append((asked, time.monotonic(), said))

        self.addCleanup(over.set)
        askers = [threading.Thread(target=ask_on) for _ in range(3)]
        for asker in askers:
            asker.start()
        steps = []  # (changed, settled, until when it stayed so, wanted)

        def change(what, wanted):
            what()
            changed = time.monotonic()
            self.becomes("team-a", wanted)
            settled = time.monotonic()
            status = self.create("team-a", dry_run=True)[0]  # as kubectl's user sees it
            self.assertEqual(status, 403 if " " in wanted else 201)
            time.sleep(0.3)  # the askers go on
            steps.append((changed, settled, time.monotonic(), wanted))

        def recreate():
            self.api.delete_namespace("team-a")
            self.api.create_namespace("team-a", {TENANT: "delta"})

        for label, wanted in (("alpha", "alpha"), ("beta", "beta"), (None, f"it has no label {TENANT}"),
                              ("", f"its label {TENANT} is empty"), ("gamma", "gamma")):
            change(lambda label=label: self.api.label_namespace("team-a", {TENANT: label}), wanted)
        change(recreate, "delta")
        over.set()
        for asker in askers:
            asker.join()

        for changed, settled, until, wanted in steps:
            said = [said for asked, answered, said in log if settled < asked and answered < until]
            self.assertTrue(said)
            self.assertEqual([text for text in said if wanted not in text], [], "an older answer came back")
        slowest = max(settled - changed for changed, settled, _, _ in steps)
        print(f"\nslowest change: {slowest * 1000:.0f} ms", file=sys.stderr)

    def test_a_namespace_that_ends_keeps_its_tenant(self):
        self.api.create_namespace("ending", {TENANT: "alpha"})
        self.becomes("ending", "alpha")
        self.api.must("DELETE", "/api/v1/namespaces/ending")  # nobody finalizes it
        self.assertIn("deletionTimestamp", self.api.must("GET", "/api/v1/namespaces/ending")["metadata"])
        known = self.guard.metric("xila_guard_watch_objects")
        self.api.create_namespace("marker")
        wait_until("the watch has passed the deletion", lambda: self.guard.metric("xila_guard_watch_objects") > known)
        self.assertEqual(self.ask("ending"), "alpha")

    def test_a_pod_right_after_its_namespace_is_judged_live(self):
        for i in range(50):
            self.api.create_namespace(f"new-{i}", {TENANT: "alpha"})
            status, answer = self.create(f"new-{i}")
            self.assertEqual(status, 201, answer)
            self.api.create_namespace(f"bare-{i}")
            status, answer = self.create(f"bare-{i}")
            self.assertEqual(status, 403, answer)
            self.assertIn(f"belongs to no tenant (it has no label {TENANT})", answer["message"])

    def test_reading_namespaces_is_all_it_wants(self):
        """Its account may do nothing else, and nothing was refused."""
        self.assertEqual(self.guard.logged("watch_interrupted"), [])

    # Cases of test/fixtures/cases, with the API server in between.

    def test_019_a_managed_scheduler_from_a_namespace_without_tenant(self):
        self.api.create_namespace("free")
        status, answer = self.create("free", body=object_of("019-managed-scheduler-from-unprotected-namespace"))
        self.assertEqual(status, 403)
        self.assertEqual([cause["reason"] for cause in answer["details"]["causes"]], ["tenant"])

    def test_044_neither_name_nor_namespace_in_the_object(self):
        self.api.create_namespace("team-044", {TENANT: "team-a"})
        body = object_of("044-namespace-only-in-request")
        body["metadata"].pop("namespace", None)
        status, answer = self.create("team-044", body=body)
        self.assertEqual(status, 201, answer)


class Failing(Tenants):
    def test_029_the_namespace_cannot_be_read(self):
        self.api = self.enterContext(ApiServer())
        self.guard = watching(self.api, rules=[])
        self.guard.start()  # it never becomes ready
        self.addCleanup(self.guard.__exit__, None)
        self.guard.await_serving()
        register(self.api, self.guard)
        self.api.create_namespace("team-ghost", {TENANT: "team-a"})
        status, answer = self.create("team-ghost", body=object_of("029-namespace-lookup-fails-closed"))
        self.assertEqual(status, 403)
        self.assertEqual([cause["reason"] for cause in answer["details"]["causes"]], ["tenant"])
        self.assertIn("could not be looked up (the API server answered 403 Forbidden)", answer["message"])
        ready = self.guard.get("/readyz")
        self.assertEqual(ready.status, 503)
        self.assertIn("the namespaces are not synced yet: the API server answered 403: namespaces is forbidden", ready.text)

    def test_029_the_api_server_does_not_answer(self):
        self.start()
        self.api.server.child.send_signal(signal.SIGSTOP)
        self.addCleanup(self.api.server.child.send_signal, signal.SIGCONT)
        begun = time.monotonic()
        self.assertIn("could not be looked up (the API server did not answer in time)", self.ask("unheard-of", "2s"))
        self.assertLess(time.monotonic() - begun, 2.0)
        self.api.server.child.send_signal(signal.SIGCONT)
        wait_until("it answers again", lambda: "does not exist" in self.ask("unheard-of"), 30)


    def test_comes_back_with_the_api_server(self):
        self.start()
        self.api.create_namespace("team-a", {TENANT: "alpha"})
        self.becomes("team-a", "alpha")
        process = self.guard.process.pid

        self.api.stop()
        self.assertEqual(self.ask("team-a"), "alpha")  # the cache is young enough
        self.assertIn("could not be looked up (cannot connect to", self.ask("unheard-of"))
        self.guard.wait_for_log("watch_interrupted", count=2)
        self.api.start()
        begun = time.monotonic()
        self.api.label_namespace("team-a", {TENANT: None})
        self.becomes("team-a", f"it has no label {TENANT}", 15)
        print(f"\nrecovered {time.monotonic() - begun:.1f} s after the API server was ready", file=sys.stderr)
        self.assertEqual(self.create("team-a", dry_run=True)[0], 403)
        self.api.label_namespace("team-a", {TENANT: "beta"})
        self.becomes("team-a", "beta")
        self.assertEqual(self.guard.process.pid, process)
        self.assertTrue(self.guard.alive())

    def test_changes_of_an_outage_count_although_their_history_is_gone(self):
        self.start()
        self.api.create_namespace("team-a", {TENANT: "alpha"})
        self.api.create_namespace("team-b", {TENANT: "beta"})
        self.becomes("team-b", "beta")
        changed = self.api.must("GET", "/api/v1/namespaces/team-a")
        self.api.stop()
        # Straight into etcd, as if through another API server, and then without the history that tells of it.
        del changed["metadata"]["labels"][TENANT], changed["metadata"]["resourceVersion"]
        self.api.seed("namespaces", [changed])
        self.api.unseed("namespaces/team-b")
        self.api.compact()
        self.api.start()
        self.becomes("team-a", f"it has no label {TENANT}", 15)
        self.becomes("team-b", "does not exist")
        self.assertGreaterEqual(self.guard.metric("xila_guard_watch_restarts_total", reason="gone"), 1)

    def test_is_not_ready_and_asks_live_once_the_cache_is_stale(self):
        self.start("--namespace-staleness-limit", "1s")
        self.api.create_namespace("team-a", {TENANT: "alpha"})
        self.becomes("team-a", "alpha")
        self.api.stop()
        wait_until("it is not ready", lambda: self.guard.get("/readyz").status == 503, 30)
        self.assertIn("the watch of namespaces has been broken for", self.guard.get("/readyz").text)
        self.assertIn("could not be looked up (cannot connect to", self.ask("team-a"))
        self.api.start()
        wait_until("it is ready again", lambda: self.guard.get("/readyz").status == 200, 15)
        self.assertEqual(self.ask("team-a"), "alpha")

    def test_a_token_that_is_no_longer_good_is_read_again(self):
        self.api = self.enterContext(ApiServer())
        config = json.loads(self.api.service_account("xila-guard", READ_NAMESPACES).read_text())
        token = self.api.folder / "token"
        token.write_text(config["users"][0]["user"]["token"])
        config["users"][0]["user"] = {"tokenFile": "token"}
        kubeconfig = self.api.folder / "rotating.kubeconfig"
        kubeconfig.write_text(json.dumps(config))
        self.guard = self.enterContext(Guard(policy={}, flags=["--kubeconfig", kubeconfig]))

        # A new account of that name: the old token is good for nothing, as one that has expired.
        accounts = "/api/v1/namespaces/default/serviceaccounts"
        self.api.must("DELETE", f"{accounts}/xila-guard")
        self.api.must("POST", accounts, {"metadata": {"name": "xila-guard"}})
        self.api.restart()  # it remembers tokens for a while
        self.api.create_namespace("team-a", {TENANT: "alpha"})
        wait_until("the old token is refused", lambda: self.guard.metric(
            "xila_guard_watch_restarts_total", reason="unauthorized") >= 1, 30)
        self.assertIn("could not be looked up (the API server answered 401 Unauthorized)", self.ask("team-a"))
        token.write_text(self.api.must("POST", f"{accounts}/xila-guard/token", {"spec": {}})["status"]["token"])
        self.assertEqual(self.ask("team-a"), "alpha")  # at once, by the live look-up
        self.becomes("default", f"it has no label {TENANT}", 15)


if __name__ == "__main__":
    unittest.main()
