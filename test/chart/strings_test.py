"""A label's value is text on every way through the chart, and so is everything else that is text."""
from harness import CASES, ChartTest, integrated, merged, profile

# What some reader of YAML takes for something else than text when it is written plainly.
TRICKY = ["true", "y", "n", "yes", "no", "on", "off", "null", "1e6", "0123", "0x1f", "0b11", "0o17", "12345678",
          "1_000", "1.5", "190.20.30", "2001-01-01", "1e400", "NaN", "Infinity", "TRUE", "Off", "Null"]


class Selectors(ChartTest):
    def same_in_both(self, out, name, workload, namespaces):
        hook = out.webhooks()[f"validate-{name}.guard.xila.us"]
        [mounted] = out.mounted("profiles.yaml")["profiles"]
        for selectors in (hook["objectSelector"], mounted["workloadSelector"]):
            self.assertEqual(selectors, workload)
        for selectors in (hook["namespaceSelector"], mounted["namespaceSelector"]):
            self.assertEqual(selectors["matchExpressions"][:-1], namespaces)

    def test_stay_text_in_the_case_from_the_field(self):
        for release in ("xila-guard", "true"):
            out = self.render(files=[CASES / "072-helm-selector-values-stay-strings" / "values.yaml"], release=release)
            self.same_in_both(out, "volcano", {"matchLabels": {
                "guard.xila.us/managed": "true", "example.test/cohort": "1e6", "example.test/build": "0123"}}, [
                {"key": "example.test/tier", "operator": "In", "values": ["on", "null", "12345678", "y"]},
                {"key": "guard.xila.us/tenant", "operator": "Exists"}])
            self.assertEqual({type(value) for document in out.documents
                              for value in document["metadata"]["labels"].values()}, {str})
            self.assertEqual(out.one("Deployment")["metadata"]["labels"]["app.kubernetes.io/instance"], release)

    def test_stay_text_whatever_it_is(self):
        labels = {f"k{n}": value for n, value in enumerate(TRICKY)} | {"on": "a", "1e6": "b", "null": "c", "y": "d", "07": "e"}
        terms = [{"key": "a", "operator": "NotIn", "values": TRICKY}]
        out = self.render(integrated(profile("true", workloadSelector={"matchLabels": labels},
                                             namespaceSelector={"matchExpressions": terms})))
        self.same_in_both(out, "true", {"matchLabels": labels}, terms)

    def test_name_the_scheduler_as_text(self):
        out = self.render(integrated(profile("1e6", schedulerName="0123", routeGuard=True)))
        self.assertEqual(out.mounted("profiles.yaml")["profiles"][0]["schedulerName"], "0123")
        self.assertIn('== "0123"', out.webhooks()["route-1e6.guard.xila.us"]["matchConditions"][0]["expression"])


class Policy(ChartTest):
    def test_is_the_body_of_the_mounted_file(self):
        policy = {
            "tenants": {"namespaceLabel": "x/y", "namespaces": {"123": "true", "ml-infra": "1e6"}},
            "trustedDaemonSetServiceAccounts": ["gpu-operator/nvidia-device-plugin"],
            "daemonSetControllerUser": "system:kube-controller-manager",
            "extraChecks": ["host-port"],
            "placement": {"rules": [{"name": "pools", "tenants": ["*"], "exclusive": True, "require": {
                "matchLabels": {"attested": "true"},
                "matchExpressions": [{"key": "guard.xila.us/pool", "operator": "In", "values": ["$(tenant)", "shared"]}]}}]},
        }
        out = self.render(integrated(profile(), policy=policy))
        self.assertEqual(out.mounted("policy.yaml"),
                         {"apiVersion": "guard.xila.us/v1alpha1", "kind": "GuardPolicy"} | policy)


class Numbers(ChartTest):
    def test_are_not_written_with_an_exponent(self):
        toleration = {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 12345678}
        out = self.render(merged(integrated(profile()), {"enforcement": {"webhook": {"tolerations": [toleration]}}}))
        [rendered] = out.one("Deployment")["spec"]["template"]["spec"]["tolerations"]
        self.assertEqual(rendered, toleration)


class Extras(ChartTest):
    def test_are_installed_as_they_are(self):
        extra = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}, "stringData": {"a": "line\nline: \"q\"\n", "b": ""},
                 "data": {}, "list": [[], [1, [2.5, {"c": None}]], {"d": [{"e": []}]}]}
        self.assertEqual(self.render({"extraObjects": [extra]}).one("Secret"), extra)
