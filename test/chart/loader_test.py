"""The files that the chart mounts, read by the program that will read them. XILA_GUARD names it."""
import os
import pathlib
import subprocess
import tempfile
import unittest

from harness import CASES, ChartTest, PROFILES, TLS, integrated, merged, profile
from strings_test import TRICKY

BINARY = os.environ.get("XILA_GUARD")
GOOD_POD = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"schedulerName":"volcano","containers":[{"name":"c"}]}}'


class Files(ChartTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not BINARY or not os.access(BINARY, os.X_OK):
            raise unittest.SkipTest("XILA_GUARD does not name the built program")

    def accepted(self, out):
        [config] = [c for c in out.of("ConfigMap") if "profiles.yaml" in c["data"]]
        with tempfile.TemporaryDirectory() as folder:
            for name, text in config["data"].items():
                pathlib.Path(folder, name).write_text(text)
            listed = subprocess.run([BINARY, "profiles", f"{folder}/profiles.yaml"], capture_output=True, text=True)
            self.assertEqual(listed.returncode, 0, listed.stderr)
            checked = subprocess.run([BINARY, "check", "--profiles", f"{folder}/profiles.yaml", "--policy", f"{folder}/policy.yaml", "-"],
                                     input=GOOD_POD, capture_output=True, text=True)
            self.assertIn(checked.returncode, (0, 1), checked.stderr)

    def test_of_every_shipped_profile_are_accepted(self):
        for path in PROFILES:
            with self.subTest(path.stem):
                self.accepted(self.render(TLS, [path]))

    def test_of_all_of_them_at_once_are_accepted(self):
        self.accepted(self.render(merged(TLS, {"integrations": {path.stem: True for path in PROFILES}})))

    def test_of_no_profile_are_accepted(self):
        self.accepted(self.render(merged(TLS, {"enforcement": {"enabled": True}})))

    def test_with_values_that_look_like_something_else_are_accepted(self):
        self.accepted(self.render(files=[CASES / "072-helm-selector-values-stay-strings" / "values.yaml"]))
        labels = {f"k{n}": value for n, value in enumerate(TRICKY)} | {"on": "a", "1e6": "b", "null": "c", "y": "d"}
        entry = profile("1e6", schedulerName="0123", routeGuard=True, workloadSelector={"matchLabels": labels},
                        namespaceSelector={"matchExpressions": [{"key": "a", "operator": "NotIn", "values": TRICKY}]})
        self.accepted(self.render(integrated(entry)))

    def test_with_the_whole_policy_are_accepted(self):
        self.accepted(self.render(integrated(profile(), policy={
            "tenants": {"namespaceLabel": "x/y", "namespaces": {"123": "true", "ml-infra": "1e6"}},
            "trustedDaemonSetServiceAccounts": ["gpu-operator/nvidia-device-plugin"],
            "extraChecks": ["host-port", "capabilities", "proc-mount", "node-affinity-pin", "gpu-visible-devices"],
            "placement": {"rules": [{"name": "pools", "tenants": ["*"], "exclusive": True, "require": {
                "matchLabels": {"attested": "true"},
                "matchExpressions": [{"key": "guard.xila.us/pool", "operator": "In", "values": ["$(tenant)", "shared"]}]}}]},
        })))
