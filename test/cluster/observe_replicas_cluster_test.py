"""Two replicas, one report: who leads, what a new leader says, and what it does not say again."""
import pathlib
import signal
import tempfile
import time
import unittest

from apiserver import ApiServer, assets, wait_until
from observer import LEASES, POOL, RULES, TENANT, Observer, delete_pod, events_of, make_node, make_pod, relabel_node

# A lease lasts 10 s and is looked at every 2 s.
TAKEOVER = 15.0


def setUpModule():
    if not assets():
        raise unittest.SkipTest("KUBEBUILDER_ASSETS does not name a folder with etcd, kube-apiserver and kubectl")


class Replicas(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.api = self.enterContext(ApiServer())
        self.account = self.api.service_account("observe", RULES + LEASES)
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.api.create_namespace("team-a", {TENANT: "team-a"})
        for node in ("n-1", "n-2"):
            make_node(self.api, node, pool="team-a")
        make_pod(self.api, "team-a", "old", "n-1", hostPID=True)
        for index in range(8):
            make_pod(self.api, "team-a", f"p-{index}", "n-2")

    def replica(self, name):
        """A replica, whose report stands beside the others'."""
        return self.enterContext(Observer(self.api, self.account, name=name, report=self.folder / f"{name}.jsonl",
                                          flags=["--leader-elect"]))

    def leading(self, observer, seconds=TAKEOVER):
        observer.logged("leading", seconds)
        return observer

    def follow(self, observer):
        """Waits until the follower has seen the leader at work."""
        begin = self.renewals()
        wait_until("the leader renews", lambda: self.renewals() >= begin + 4, 30)
        self.assertEqual(observer.steps(), [])
        return observer

    def renewals(self):
        lease = self.api.must("GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases/xila-guard-observe")
        seen = getattr(self, "seen", set())
        self.seen = seen | {lease["metadata"]["resourceVersion"]}
        return len(self.seen)

    @staticmethod
    def said(*observers, **keys):
        return sorted((step["change"], step["pod"], step["check"]) for observer in observers for step in observer.steps(**keys))

    def test_a_killed_leader_is_followed_without_repetition_or_loss(self):
        first = self.leading(self.replica("one"))
        first.step(pod="old", change="opened", rebuilt=False)  # nobody had the lease before
        second = self.follow(self.replica("two"))

        relabel_node(self.api, "n-2", {POOL: "b"})
        wait_until("all is reported", lambda: len(first.steps(finding="drift")) == 8)
        time.sleep(0.5)  # for the lease to say so
        first.stop(signal.SIGKILL)
        killed = time.monotonic()
        make_pod(self.api, "team-a", "meanwhile", "n-1", hostIPC=True)
        delete_pod(self.api, "team-a", "p-0")
        second.step(TAKEOVER, pod="meanwhile", change="opened")
        self.assertLess(time.monotonic() - killed, TAKEOVER)

        second.step(pod="p-0", change="resolved", resolution="pod-gone")
        time.sleep(2)  # for what should not come
        self.assertEqual(self.said(second), [("opened", "meanwhile", "host-namespace"), ("resolved", "p-0", "placement/tenant-pools")])
        self.assertEqual(len(self.said(first, second)), 1 + 8 + 2)
        for event in events_of(self.api, "team-a"):
            self.assertNotIn("series", event)
        self.assertEqual(second.metric("xila_guard_findings", finding="drift", tenant="team-a"), 7)

        # It goes on from what it knows: a finding that the first one opened is resolved by it, under the same id.
        relabel_node(self.api, "n-2", {POOL: "team-a"})
        wait_until("all is resolved", lambda: len(second.steps(finding="drift", change="resolved")) == 8)
        self.assertEqual({step["id"] for step in second.steps(finding="drift")}, {step["id"] for step in first.steps(finding="drift")})

    def test_a_leader_that_ends_gives_the_lease_back(self):
        first = self.leading(self.replica("one"))
        second = self.follow(self.replica("two"))
        ended = time.monotonic()
        first.stop()
        self.leading(second)
        self.assertLess(time.monotonic() - ended, 5)
        self.assertEqual(second.steps(), [])

    def test_when_all_restart_the_baseline_is_rebuilt_and_no_event_repeated(self):
        first = self.leading(self.replica("one"))
        before = first.step(pod="old", change="opened")
        [event] = wait_until("Event", lambda: events_of(self.api, "team-a"))
        first.stop()
        second = self.leading(self.replica("two"))
        again = second.step(pod="old", change="opened")
        self.assertEqual((again["id"], again["rebuilt"]), (before["id"], True))
        wait_until("the Event is met", lambda: second.metric("xila_guard_events_total", result="known") == 1)
        self.assertEqual([item["metadata"]["resourceVersion"] for item in events_of(self.api, "team-a")],
                         [event["metadata"]["resourceVersion"]])

    def test_the_follower_shows_no_findings_of_its_own(self):
        first = self.leading(self.replica("one"))
        second = self.follow(self.replica("two"))
        series = {"finding": "host-namespace", "tenant": "team-a"}
        self.assertEqual([replica.metric("xila_guard_findings", **series) for replica in (first, second)], [1, 0])
        self.assertEqual([replica.metric("xila_guard_leader") for replica in (first, second)], [1, 0])
        self.assertEqual(len(second.findings()["findings"]), 1)  # it knows them all the same

    def test_without_the_right_to_the_lease_nobody_reports_and_it_is_said(self):
        account = self.api.service_account("no-lease", RULES)
        observer = self.enterContext(Observer(self.api, account, flags=["--leader-elect"]))
        line = observer.logged("lease_failed")
        self.assertIn('cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "default"', line["reason"])
        wait_until("three tries", lambda: observer.metric("xila_guard_lease_failures_total", reason="forbidden") >= 3)
        self.assertEqual(observer.count_logged("lease_failed"), 1)
        self.assertEqual(observer.steps(), [])


if __name__ == "__main__":
    unittest.main()
