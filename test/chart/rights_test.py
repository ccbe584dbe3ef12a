"""The commands run with the rights that the chart gives them, and with the arguments and files that it starts them with."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

from harness import ChartTest, ROOT, integrated, missing, profile

sys.path.insert(0, str(ROOT / "test" / "cluster"))
from apiserver import ApiServer, Certificates, Process, assets, free_port, wait_until  # noqa: E402

BINARY = os.environ.get("XILA_GUARD")
RIGHTS = {"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}

api = None


def setUpModule():
    global api
    reason = missing()
    if not reason and not assets():
        reason = "KUBEBUILDER_ASSETS names no folder with etcd, kube-apiserver and kubectl"
    if not reason and not (BINARY and os.access(BINARY, os.X_OK)):
        reason = "XILA_GUARD does not name the built program"
    if reason:
        raise unittest.SkipTest(reason)
    api = ApiServer()
    unittest.addModuleCleanup(api.close)
    api.__enter__()
    api.create_namespace("guard")


class Rights(ChartTest):
    def started(self, component):
        """The component as its Deployment starts it, but for files and ports of this machine; its log."""
        out = self.render(integrated(profile()))
        api.kubectl("apply", "-f", "-", stdin="\n---\n".join(json.dumps(d) for d in out.documents if d["kind"] in RIGHTS))
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("profiles.yaml", "policy.yaml"):
            [config] = [c for c in out.of("ConfigMap") if name in c["data"]]
            (folder / name).write_text(config["data"][name])
        certificate, key = Certificates(folder / "pki").issue("tls", "/CN=x", ("DNS:localhost",))
        spec = out.one("Deployment", component=component)["spec"]["template"]["spec"]
        token = api.kubectl("create", "token", spec["serviceAccountName"], "-n", "guard").stdout.strip()
        operations = f"127.0.0.1:{free_port()}"
        replaced = {"--tls-cert-file": certificate, "--tls-private-key-file": key, "--metrics-bind-address": operations,
                    "--secure-port": 0, "--profiles": folder / "profiles.yaml", "--policy": folder / "policy.yaml"}
        arguments = []
        for argument in spec["containers"][0]["args"]:
            flag = argument.split("=")[0]
            arguments.append(f"{flag}={replaced[flag]}" if flag in replaced else argument)
        if component == "observe":
            arguments.append("--findings-bind-address=0")
        arguments.append(f"--kubeconfig={api.make_kubeconfig(folder / 'kubeconfig', token)}")
        process = Process([BINARY, *arguments], folder / "log", os.environ | {"POD_NAMESPACE": "guard", "POD_NAME": "me"})
        self.addCleanup(process.stop)

        def ready():
            if not process.running():
                raise AssertionError(process.tail())
            try:
                return urllib.request.urlopen(f"http://{operations}/readyz", timeout=5).status == 200
            except (urllib.error.URLError, OSError):
                return False

        wait_until(f"{component} is ready", ready, 60)
        return process

    def test_suffice_for_the_admission_server(self):
        self.assertNotIn("forbidden", self.started("webhook").tail(1000))

    def test_suffice_for_the_observe_controller(self):
        process = self.started("observe")
        lease = "/apis/coordination.k8s.io/v1/namespaces/guard/leases/demo-xila-guard-observe"
        wait_until("it leads", lambda: api.request("GET", lease)[1].get("spec", {}).get("holderIdentity"), 30)
        self.assertNotIn("forbidden", process.tail(1000))
