"""Real releases on a real API server: what an upgrade keeps, and what an uninstall leaves."""
import base64
import json
import os
import subprocess
import sys
import tempfile
import unittest

from harness import CHART, ChartTest, ROOT, helms, integrated, merged, missing, profile

sys.path.insert(0, str(ROOT / "test" / "cluster"))
from apiserver import ApiServer, assets, wait_until  # noqa: E402

CONFIG = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/demo-xila-guard-webhook-volcano"
INJECTED = base64.b64encode(b"-----BEGIN CERTIFICATE-----\ninjected\n").decode()

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
    api.create_namespace("guard")
    for kind in ("Certificate", "Issuer"):
        foreign_kind(kind)


def foreign_kind(kind):
    """A stand-in for a kind of cert-manager's that takes anything."""
    plural = kind.lower() + "s"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    api.must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        "metadata": {"name": f"{plural}.cert-manager.io"},
        "spec": {"group": "cert-manager.io", "scope": "Namespaced", "names": {"kind": kind, "plural": plural},
                 "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}]}})
    path = f"/apis/cert-manager.io/v1/namespaces/guard/{plural}"
    wait_until(f"{kind} is served", lambda: api.request("GET", path)[0] == 200)


class Release(ChartTest):
    def helm(self, binary, *arguments, values=None):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(values or {}, file)
            file.flush()
            given = ["-f", file.name] if values is not None else []
            done = subprocess.run([binary, *arguments, "-n", "guard", *given], capture_output=True, text=True,
                                  env=os.environ | {"KUBECONFIG": str(api.kubeconfig)})
        self.assertEqual(done.returncode, 0, done.stderr)

    def installed(self, binary, values):
        self.helm(binary, "upgrade", "--install", "demo", str(CHART), values=values)

    def ca_bundles(self):
        return {hook["clientConfig"].get("caBundle") for hook in api.must("GET", CONFIG)["webhooks"]}

    def each_helm(self):
        for binary in helms():
            with self.subTest(binary):
                try:
                    yield binary
                finally:
                    self.helm(binary, "uninstall", "demo", "--ignore-not-found")

    def test_upgraded_keeps_the_ca_that_cert_manager_wrote(self):
        certified = merged(integrated(profile()), {"enforcement": {"webhook": {"tls": {"caBundle": ""}, "certManager": {"enabled": True}}}})
        for binary in self.each_helm():
            self.installed(binary, certified)
            self.assertEqual(self.ca_bundles(), {None})
            hooks = len(api.must("GET", CONFIG)["webhooks"])
            api.must("PATCH", CONFIG + "?fieldManager=cert-manager-cainjector",
                     [{"op": "add", "path": f"/webhooks/{n}/clientConfig/caBundle", "value": INJECTED} for n in range(hooks)],
                     "application/json-patch+json")
            self.installed(binary, merged(certified, {"orchestratorIntegrations": [profile(mode="warn")]}))
            self.assertEqual(self.ca_bundles(), {INJECTED})

    def test_uninstalled_leaves_nothing(self):
        everything = merged(integrated(profile()), {"integrations": {"kueue": True}, "enforcement": {"enabled": True},
                                                    "networkPolicy": {"enabled": True}})
        kinds = ("validatingwebhookconfigurations,clusterroles,clusterrolebindings,deployments,services,configmaps,serviceaccounts,"
                 "poddisruptionbudgets,resourcequotas,networkpolicies,roles,rolebindings")
        left = lambda: api.kubectl("get", kinds, "-n", "guard", "-l", "app.kubernetes.io/instance=demo", "-o", "name").stdout.split()
        for binary in self.each_helm():
            self.installed(binary, everything)
            self.assertGreater(len(left()), 8)
            self.helm(binary, "uninstall", "demo")
            self.assertEqual(left(), [])

    def test_changes_from_one_way_of_tls_to_the_other(self):
        for binary in self.each_helm():
            self.installed(binary, integrated(profile()))
            self.installed(binary, merged(integrated(profile()), {"enforcement": {"webhook": {
                "tls": {"caBundle": ""}, "certManager": {"enabled": True}}}}))
            self.installed(binary, integrated(profile()))
            self.assertNotEqual(self.ca_bundles(), {None})
