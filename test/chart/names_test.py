"""Names: literal, within their limits, never two alike."""
import re

from harness import ChartTest, TLS, integrated, merged, profile

EVERYTHING = merged(TLS, {
    "integrations": {"volcano": True, "kueue": True},
    "enforcement": {"enabled": True, "webhook": {"tls": {"caBundle": ""}, "certManager": {"enabled": True}}},
    "networkPolicy": {"enabled": True},
    "metrics": {kind: {"enabled": True} for kind in ("serviceMonitor", "podMonitor", "prometheusRule")},
})
LONG = "r" * 53


class Names(ChartTest):
    def test_begin_with_release_and_chart_even_where_they_are_one_word(self):
        for release in ("demo", "xila-guard"):
            for document in self.render(EVERYTHING, release=release).documents:
                self.assertTrue(document["metadata"]["name"].startswith(f"{release}-xila-guard-"), document["metadata"]["name"])

    def test_over_the_limit_are_cut_and_end_in_a_hash(self):
        out = self.render(EVERYTHING, release=LONG)
        name = out.one("Service")["metadata"]["name"]
        self.assertRegex(name, rf"^{LONG}-[0-9a-f]{{8}}$")
        self.assertEqual(out.one("Deployment")["metadata"]["name"], name)
        self.assertEqual({hook["clientConfig"]["service"]["name"] for hook in out.webhooks().values()}, {name})
        for document in out.documents:
            limit = 253 if document["kind"] == "ValidatingWebhookConfiguration" else 63
            self.assertLessEqual(len(document["metadata"]["name"]), limit)

    def test_of_configurations_are_cut_for_nothing(self):
        name = "p" * 63
        out = self.render(integrated(profile(name)), release=LONG)
        self.assertEqual(out.one("ValidatingWebhookConfiguration")["metadata"]["name"], f"{LONG}-xila-guard-webhook-{name}")

    def test_differ_within_a_kind(self):
        for release in ("demo", LONG):
            out = self.render(EVERYTHING, release=release)
            names = [(document["kind"], document["metadata"]["name"]) for document in out.documents]
            self.assertEqual(len(names), len(set(names)))

    def test_of_two_long_releases_differ(self):
        service = lambda release: self.render(integrated(profile()), release=release).one("Service")["metadata"]["name"]
        self.assertNotEqual(service("r" * 52 + "a"), service("r" * 52 + "b"))

    def test_never_end_in_a_dash_before_the_hash(self):
        out = self.render(EVERYTHING, release="r" * 42)
        for document in out.documents:
            self.assertFalse(re.search(r"--[0-9a-f]{8}$", document["metadata"]["name"]))


class Labels(ChartTest):
    def test_of_the_pods_hold_the_selector_and_no_version(self):
        out = self.render(integrated(profile(), commonLabels={"team": "x", "app.kubernetes.io/name": "mine"}))
        deployment = out.one("Deployment")
        selector = deployment["spec"]["selector"]["matchLabels"]
        self.assertEqual(selector, {"app.kubernetes.io/name": "xila-guard", "app.kubernetes.io/instance": "demo",
                                    "app.kubernetes.io/component": "webhook"})
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        self.assertEqual(labels, selector | {"app.kubernetes.io/part-of": "xila-guard", "team": "x"})
        self.assertEqual(out.one("Service")["spec"]["selector"], selector)
        self.assertEqual(out.one("PodDisruptionBudget")["spec"]["selector"]["matchLabels"], selector)

    def test_are_on_every_object(self):
        for document in self.render(EVERYTHING).documents:
            labels = document["metadata"]["labels"]
            self.assertEqual(labels["app.kubernetes.io/instance"], "demo")
            self.assertEqual(labels["helm.sh/chart"], "xila-guard-0.1.0")

    def test_and_namespaces_of_objects_fit_their_scope(self):
        cluster_wide = {"ValidatingWebhookConfiguration", "ClusterRole", "ClusterRoleBinding"}
        for document in self.render(EVERYTHING).documents:
            expected = None if document["kind"] in cluster_wide else "guard"
            self.assertEqual(document["metadata"].get("namespace"), expected, document["kind"])
