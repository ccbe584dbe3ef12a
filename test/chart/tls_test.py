"""The serving certificate, by the user's Secret and by cert-manager."""
import base64
import pathlib
import shutil
import tempfile

from harness import CA, CASES, CHART, ChartTest, TLS, integrated, merged, profile

CASE = CASES / "070-helm-upgrade-keeps-ca"
HOST = "demo-xila-guard-webhook.guard.svc"


class Secret(ChartTest):
    def test_is_mounted_as_a_folder_so_that_rotation_reaches_the_server(self):
        out = self.render(integrated(profile()))
        pod = out.one("Deployment")["spec"]["template"]["spec"]
        self.assertIn({"name": "tls", "secret": {"secretName": "demo-xila-guard-webhook-tls"}}, pod["volumes"])
        mounts = out.server()["volumeMounts"]
        self.assertIn({"name": "tls", "mountPath": "/etc/xila-guard/tls", "readOnly": True}, mounts)
        self.assertFalse([mount for mount in mounts if "subPath" in mount])

    def test_can_have_another_name(self):
        out = self.render(files=[CASE / "values.yaml"])
        self.assertIn({"name": "tls", "secret": {"secretName": "xila-guard-tls"}},
                      out.one("Deployment")["spec"]["template"]["spec"]["volumes"])

    def test_renders_the_same_each_time(self):
        # Two releases of one name in two folders, so that helm is really asked twice.
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(shutil.copytree(CHART, pathlib.Path(folder) / "xila-guard"))
            render = lambda chart: self.render(files=[CASE / "values.yaml"], chart=chart).text
            self.assertEqual(render(CHART), render(other))

    def test_change_of_the_ca_alone_restarts_nothing(self):
        other = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nnew\n").decode()
        deployment = lambda ca: self.render(integrated(profile(), enforcement={"webhook": {"tls": {"caBundle": ca}}})).one("Deployment")
        self.assertEqual(deployment(CA), deployment(other))

    def test_ca_may_be_wrapped_as_base64_does_it(self):
        [hook] = self.render(integrated(profile(), enforcement={"webhook": {"tls": {
            "caBundle": CA[:20] + "\n" + CA[20:] + "\n"}}})).webhooks().values()
        self.assertEqual(hook["clientConfig"]["caBundle"], CA)

    def test_ca_reaches_the_selftest(self):
        out = self.render(integrated(profile()))
        [ca] = [c for c in out.of("ConfigMap") if "ca.crt" in c["data"]]
        self.assertEqual(ca["data"]["ca.crt"], base64.b64decode(CA).decode())


class CertManager(ChartTest):
    def test_is_the_only_owner_of_the_ca(self):
        out = self.render(files=[CASE / "values-certmanager.yaml"])
        self.assertNotIn("caBundle", out.text)
        config = out.one("ValidatingWebhookConfiguration")
        certificate = out.one("Certificate")
        self.assertEqual(config["metadata"]["annotations"]["cert-manager.io/inject-ca-from"],
                         f"guard/{certificate['metadata']['name']}")
        self.assertEqual(certificate["spec"]["issuerRef"], {"group": "cert-manager.io", "kind": "Issuer", "name": "xila-guard-ca"})

    def test_makes_the_secret_that_is_mounted_for_the_host_that_is_called(self):
        out = self.render(integrated(profile(), enforcement={"webhook": {"tls": {"caBundle": ""}, "certManager": {
            "enabled": True, "additionalDNSNames": ["guard.example"]}, "clusterDomain": "corp.local"}}))
        certificates = {c["spec"]["secretName"]: c for c in out.of("Certificate")}
        leaf = certificates["demo-xila-guard-webhook-tls"]
        self.assertEqual(leaf["spec"]["dnsNames"], [HOST, HOST + ".corp.local", "demo-xila-guard-webhook.guard",
                                                    "demo-xila-guard-webhook", "guard.example"])
        self.assertIn({"name": "tls", "secret": {"secretName": "demo-xila-guard-webhook-tls"}},
                      out.one("Deployment")["spec"]["template"]["spec"]["volumes"])

    def test_without_an_issuer_makes_a_ca_of_its_own(self):
        out = self.render(integrated(profile(), enforcement={"webhook": {"tls": {"caBundle": ""}, "certManager": {"enabled": True}}}))
        issuers = {i["metadata"]["name"]: i["spec"] for i in out.of("Issuer")}
        self.assertEqual(issuers, {"demo-xila-guard-webhook-selfsigned": {"selfSigned": {}},
                                   "demo-xila-guard-webhook-ca": {"ca": {"secretName": "demo-xila-guard-webhook-ca"}}})
        chain = {c["metadata"]["name"]: c["spec"]["issuerRef"]["name"] for c in out.of("Certificate")}
        self.assertEqual(chain, {"demo-xila-guard-webhook-ca": "demo-xila-guard-webhook-selfsigned",
                                 "demo-xila-guard-webhook": "demo-xila-guard-webhook-ca"})

    def test_keeps_its_annotation_beside_the_users(self):
        out = self.render(integrated(profile(), enforcement={"webhook": {"tls": {"caBundle": ""}, "certManager": {"enabled": True},
                                                                         "configuration": {"annotations": {"a": "b"}}}}))
        self.assertEqual(out.one("ValidatingWebhookConfiguration")["metadata"]["annotations"],
                         {"a": "b", "cert-manager.io/inject-ca-from": "guard/demo-xila-guard-webhook"})

    def test_gives_the_selftest_the_certificate_without_its_key(self):
        out = self.render(integrated(profile(), enforcement={"webhook": {"tls": {"caBundle": ""}, "certManager": {"enabled": True}}}))
        [volume] = out.one("Pod")["spec"]["volumes"]
        self.assertEqual(volume["secret"]["items"], [{"key": "ca.crt", "path": "ca.crt"}])


class ClientCa(ChartTest):
    def test_is_mounted_from_a_config_map_or_a_secret(self):
        for kind, volume in (("configMapName", {"configMap": {"name": "api-ca"}}),
                             ("secretName", {"secret": {"secretName": "api-ca", "items": [{"key": "x.pem", "path": "x.pem"}]}})):
            out = self.render(integrated(profile(), enforcement={"webhook": {"clientCA": {kind: "api-ca", "key": "x.pem"}}}))
            self.assertIn("--client-ca-file=/etc/xila-guard/client-ca/x.pem", out.server()["args"])
            self.assertIn({"name": "client-ca"} | volume, out.one("Deployment")["spec"]["template"]["spec"]["volumes"])

    def test_is_off_by_default(self):
        self.assertNotIn("client-ca", self.render(merged(TLS, integrated(profile()))).text)
