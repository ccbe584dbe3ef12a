"""What observe does when something fails: each part degrades alone, says so once, and resolves nothing by mistake."""
import signal
import time
import unittest

from apiserver import ApiServer, assets, wait_until
from observer import POOL, RULES, TENANT, Observer, events_of, make_node, make_pod, relabel_node


def setUpModule():
    if not assets():
        raise unittest.SkipTest("KUBEBUILDER_ASSETS does not name a folder with etcd, kube-apiserver and kubectl")


def without(resource):
    """The controller's rules but for one resource."""
    return [rule | {"resources": [name for name in rule["resources"] if name != resource]} for rule in RULES]


class Failures(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.api = self.enterContext(ApiServer())
        self.api.create_namespace("team-a", {TENANT: "team-a"})
        make_node(self.api, "n-1", pool="team-a")
        make_pod(self.api, "team-a", "bad", "n-1", hostPID=True)

    def observer(self, kubeconfig=None, **more):
        return self.enterContext(Observer(self.api, kubeconfig, **more))

    def test_an_api_server_that_is_away_resolves_nothing(self):
        observer = self.observer()
        observer.step(pod="bad", change="opened")
        self.api.stop()
        observer.logged("watch_interrupted")
        time.sleep(3)
        self.assertEqual(len(observer.findings()["findings"]), 1)
        self.api.start()
        relabel_node(self.api, "n-1", {POOL: "b"})
        observer.step(60, finding="drift", change="opened")
        self.assertEqual(observer.steps(change="resolved"), [])
        self.assertEqual(len(observer.steps(pod="bad", finding="host-namespace")), 1)

    def test_what_was_missed_is_found_after_a_compaction(self):
        observer = self.observer()
        observer.step(pod="bad", change="opened")
        self.api.stop()
        self.api.start()
        self.api.must("DELETE", "/api/v1/namespaces/team-a/pods/bad?gracePeriodSeconds=0")
        make_pod(self.api, "team-a", "bad", "n-1", hostPID=True)
        self.api.compact()
        observer.step(60, change="resolved", resolution="pod-gone")
        wait_until("the new Pod", lambda: len(observer.steps(pod="bad", change="opened")) == 2)
        self.assertEqual(len({step["id"] for step in observer.steps()}), 2)

    def test_nothing_opens_on_what_may_be_old(self):
        observer = self.observer(settle="2s")
        observer.step(pod="bad", change="opened")
        relabel_node(self.api, "n-1", {POOL: "b"})
        time.sleep(0.5)
        self.api.stop()
        time.sleep(4)
        self.assertEqual(observer.steps(finding="drift"), [])
        self.api.start()
        relabel_node(self.api, "n-1", {POOL: "team-a"})
        observer.logged("watch_interrupted")
        make_pod(self.api, "team-a", "later", "n-1", hostIPC=True)
        observer.step(60, pod="later", change="opened")
        self.assertEqual(observer.steps(finding="drift"), [])

    def test_a_missing_permission_is_named_and_costs_its_own_findings_alone(self):
        for resource, effect in (("persistentvolumes", "host-path-claim"), ("nodes", "placement rules")):
            with self.subTest(resource), Observer(self.api, self.api.service_account(f"no-{resource}", without(resource))) as observer:
                line = observer.logged("permission_missing")
                self.assertEqual((line["resource"], line["verbs"], line["not_judged"]), (resource, "list, watch", effect))
                self.assertIn(f'cannot list resource "{resource}"', line["reason"])
                observer.step(pod="bad", finding="host-namespace", change="opened")
                self.assertEqual(observer.metric("xila_guard_forbidden", resource=resource), 1)
                self.assertEqual(observer.get("/readyz")[0], 200)

    def test_without_pods_nothing_is_judged_until_the_permission_comes(self):
        account = self.api.service_account("no-pods", without("pods"))
        observer = Observer(self.api, account)
        observer.start(judged=False)
        try:
            line = observer.logged("permission_missing")
            self.assertEqual((line["resource"], line["not_judged"]), ("pods", "nothing is judged"))
            status, why = observer.get("/readyz")
            self.assertEqual(status, 503)
            self.assertIn('pods are not listed yet: the API server answered 403: pods is forbidden', why)
            self.api.must("PATCH", "/apis/rbac.authorization.k8s.io/v1/clusterroles/no-pods", {"rules": RULES},
                          "application/merge-patch+json")
            observer.step(60, pod="bad", change="opened")
            observer.logged("permission_granted")
        finally:
            observer.stop()

    def test_refused_events_cost_nothing_else(self):
        observer = self.observer(self.api.service_account("no-events", RULES[:1]))
        observer.step(pod="bad", change="opened")
        line = observer.logged("event_failed")
        self.assertIn('cannot create resource "events" in API group "events.k8s.io" in the namespace "team-a"', line["reason"])
        make_pod(self.api, "team-a", "worse", "n-1", hostIPC=True)
        observer.step(pod="worse", change="opened")
        wait_until("both are counted", lambda: observer.metric("xila_guard_events_total", result="failed") == 2)
        self.assertEqual(observer.count_logged("event_failed"), 1)

    def test_a_full_report_file_costs_its_lines_alone(self):
        observer = self.observer(report="/dev/full")
        line = observer.logged("report_lines_dropped")
        self.assertEqual(line["reason"], "No space left on device")
        make_pod(self.api, "team-a", "worse", "n-1", hostIPC=True)
        wait_until("both are counted", lambda: observer.metric("xila_guard_report_dropped_total") == 2)
        wait_until("Events", lambda: len(events_of(self.api, "team-a")) == 2)
        self.assertEqual(observer.metric("xila_guard_findings", finding="host-namespace", tenant="team-a"), 2)
        self.assertEqual(observer.count_logged("report_lines_dropped"), 1)

    def test_the_report_file_is_opened_again(self):
        observer = self.observer()
        observer.step(pod="bad", change="opened")
        rotated = observer.report.rename(observer.report.with_suffix(".1"))
        observer.process.send_signal(signal.SIGHUP)
        observer.logged("report_file_reopened")
        make_pod(self.api, "team-a", "worse", "n-1", hostIPC=True)
        observer.step(pod="worse", change="opened")
        self.assertEqual(len(rotated.read_text().splitlines()), 1)

    def test_a_storm_is_reported_whole_and_told_at_a_measured_rate(self):
        count, qps, burst = 1000, 5, 20
        observer = self.observer(flags=["--event-qps", str(qps), "--event-burst", str(burst)])
        for index in range(count):
            make_pod(self.api, "team-a", f"s-{index}", "n-1")
        begin = time.monotonic()
        relabel_node(self.api, "n-1", {POOL: "b"})
        wait_until("one line each", lambda: len(observer.steps(finding="drift", change="opened")) == count + 1)
        self.assertEqual(len({step["id"] for step in observer.steps()}), count + 2)
        time.sleep(4)
        written = len(events_of(self.api, "team-a"))
        lasted = time.monotonic() - begin
        self.assertLessEqual(written, burst + qps * lasted + 1)
        self.assertGreaterEqual(written, burst)
        self.assertEqual(observer.metric("xila_guard_findings", finding="drift", tenant="team-a"), count + 1)
        # Every one is accounted for: written, dropped, or waiting still.
        results = {result: observer.metric("xila_guard_events_total", result=result) for result in ("written", "dropped", "failed")}
        waiting = observer.metric("xila_guard_events_waiting")
        self.assertIn(results["written"] + results["dropped"] + waiting, (count + 2, count + 1))  # one may be on its way
        self.assertEqual(results["failed"], 0)


if __name__ == "__main__":
    unittest.main()
