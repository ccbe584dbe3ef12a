"""/metrics as a scraper sees it, and the three operations paths."""
import re
import unittest

from client import Client, parse_metrics
from guard import Guard, run_guard
from inputs import ROOT, crossing_review, profiles_text, review

MODES = profiles_text({"name": "volcano"}, {"name": "gentle", "mode": "warn"}, {"name": "silent", "mode": "audit"})


def documented():
    """{name: (type, [labels])} of the table in docs/metrics.md."""
    rows = re.findall(r"^\| `(xila_guard_\w+)` \| (\w+) \| ([^|]*)\|", (ROOT / "docs" / "metrics.md").read_text(), re.M)
    return {name: (kind, re.findall(r"`(\w+)`", labels)) for name, kind, labels in rows}


class Metrics(unittest.TestCase):
    def setUp(self):
        self.guard = self.enterContext(Guard(profiles=MODES))

    def reviews(self, **labels):
        return self.guard.metric("xila_guard_reviews_total", **labels)

    def test_the_page_is_prometheus_text_and_says_what_the_documentation_says(self):
        self.guard.post(crossing_review())
        answer = self.guard.get("/metrics")
        self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
        self.assertTrue(answer.text.endswith("\n"))
        types = dict(re.findall(r"^# TYPE (\S+) (\w+)$", answer.text, re.M))
        helps = dict(re.findall(r"^# HELP (\S+) (.+)$", answer.text, re.M))
        ours = {name: kind for name, kind in types.items() if name.startswith("xila_guard_")}
        self.assertEqual(ours, {name: kind for name, (kind, _) in documented().items()})
        self.assertEqual(set(types), set(helps))
        for name, labels in parse_metrics(answer.text):
            family = re.sub(r"_(bucket|sum|count)$", "", name) if name not in types else name
            self.assertIn(family, types)
            if family in ours:
                self.assertEqual([label for label, _ in labels if label != "le"], documented()[family][1])

    def test_reviews_are_counted_by_profile_mode_operation_decision_and_dry_run(self):
        dry = crossing_review()
        dry["request"]["dryRun"] = True
        update = review()
        update["request"] |= {"operation": "UPDATE", "oldObject": update["request"]["object"]}
        for body, path in ((review(), "/validate/volcano"), (crossing_review(), "/validate/volcano"), (dry, "/validate/volcano"),
                           (update, "/validate/volcano"), (crossing_review(), "/validate/gentle"), (crossing_review(), "/validate/silent"),
                           (crossing_review(), "/validate"), (review(hostNetwork=1), "/validate/gentle")):
            self.assertEqual(self.guard.post(body, path).status, 200)
        counted = {labels: value for (name, labels), value in self.guard.metrics().items() if name == "xila_guard_reviews_total"}
        keys = ("profile", "mode", "operation", "decision", "dry_run")
        self.assertEqual({tuple(dict(labels)[key] for key in keys): value for labels, value in counted.items()}, {
            ("volcano", "enforce", "CREATE", "allowed", "false"): 1, ("volcano", "enforce", "CREATE", "denied", "false"): 1,
            ("volcano", "enforce", "CREATE", "denied", "true"): 1, ("volcano", "enforce", "UPDATE", "allowed", "false"): 1,
            ("gentle", "warn", "CREATE", "warned", "false"): 1, ("silent", "audit", "CREATE", "audited", "false"): 1,
            ("enforcement", "enforce", "CREATE", "denied", "false"): 1, ("gentle", "warn", "CREATE", "malformed", "false"): 1})
        self.assertEqual(self.guard.metric("xila_guard_violations_total", check="node-pin", profile="volcano"), 2)
        self.assertEqual(self.guard.metric("xila_guard_violations_total", check="malformed", profile="gentle"), 1)
        self.assertEqual(self.guard.metric("xila_guard_review_duration_seconds_count"), 8)
        self.assertEqual(self.guard.metric("xila_guard_review_duration_seconds_bucket", le="+Inf"), 8)
        self.assertEqual(self.guard.metric("xila_guard_http_responses_total", listener="webhook", code="200"), 8)

    def test_a_path_that_names_no_profile_makes_no_series_of_its_own(self):
        for number in range(50):
            self.assertFalse(self.guard.post(crossing_review(), f"/validate/made-up-{number}").allowed)
        self.assertEqual(self.reviews(profile="unknown"), 50)
        self.assertEqual(self.guard.metric("xila_guard_violations_total", profile="unknown", check="privileged"), 50)
        self.assertNotIn("made-up", self.guard.get("/metrics").text)

    def test_what_is_no_review_is_counted_as_an_answer_alone(self):
        self.guard.post(b"nonsense")
        self.guard.post(review(), "/elsewhere")
        self.guard.post(review(), content_type="text/plain")
        for code in ("400", "404", "415"):
            self.assertEqual(self.guard.metric("xila_guard_http_responses_total", listener="webhook", code=code), 1)
        self.assertEqual(self.reviews(), 0)

    def test_bytes_and_connections(self):
        with self.guard.client() as client:
            answer = client.post(review())
            self.assertEqual(self.guard.metric("xila_guard_connections", listener="webhook"), 1)
            self.assertEqual(self.guard.metric("xila_guard_http_sent_bytes_total", listener="webhook"), len(answer.body))
            self.assertGreater(self.guard.metric("xila_guard_http_received_bytes_total", listener="webhook"), 1000)
        self.guard.wait_for_metric("xila_guard_connections", lambda value: value == 0, listener="webhook")
        self.assertGreater(self.guard.metric("xila_guard_connections_accepted_total", listener="webhook"), 0)

    def test_build_info_is_what_version_says(self):
        (labels,) = [dict(labels) for (name, labels) in self.guard.metrics() if name == "xila_guard_build_info"]
        code, out, _ = run_guard("version")
        self.assertEqual(code, 0)
        for label in ("version", "commit", "compiler", "openssl"):
            self.assertIn(labels[label], out)
        self.assertTrue(all(labels.values()))

    def test_the_files_state_is_there_from_the_start(self):
        for what in ("config", "certificate"):
            self.assertEqual(self.guard.metric("xila_guard_reload_last_successful", what=what), 1)
            self.assertGreater(self.guard.metric("xila_guard_reload_last_success_timestamp_seconds", what=what), 1.6e9)
        self.assertEqual(self.guard.metric("xila_guard_config_generation"), 1)
        self.assertGreater(self.guard.metric("xila_guard_certificate_not_after_timestamp_seconds"), 1.6e9)
        self.assertEqual(self.guard.metric("xila_guard_audit_dropped_total"), 0)

    def test_operations_paths(self):
        for path, status, text in (("/healthz", 200, "ok"), ("/readyz", 200, "ready"),
                                   ("/", 404, "no such path; there is /healthz, /readyz and /metrics\n"),
                                   ("/validate", 404, "no such path; there is /healthz, /readyz and /metrics\n")):
            answer = self.guard.get(path)
            self.assertEqual((answer.status, answer.text), (status, text))
        with Client(self.guard.operations_port) as client:
            self.assertEqual(client.request("POST", "/metrics", "x").status, 405)
            head = client.request("HEAD", "/metrics")
            self.assertEqual((head.status, head.body), (200, b""))

    def test_the_webhook_listener_answers_reviews_alone(self):
        with self.guard.client() as client:
            self.assertEqual(client.request("GET", "/validate/volcano").status, 405)
            for path in ("/metrics", "/healthz", "/", "/validate/", "/validate/UPPER", "/validate/volcano/more", "/Validate",
                         "/validate/..%2f", "//validate", "/validate%2fvolcano"):
                self.assertEqual(client.request("POST", path, "{}", {"Content-Type": "application/json"}).status, 404, path)


if __name__ == "__main__":
    unittest.main()
