"""deploy/ is what the chart renders, and the certificate script makes what the chart asks for."""
import base64
import binascii
import calendar
import os
import pathlib
import subprocess
import tempfile
import time

from harness import ChartTest, ROOT, helms, integrated, profile, yaml

DEPLOY = ROOT / "deploy"


def documents(text):
    """As a set: helm's releases order kinds they do not know in their own ways."""
    return sorted(part.strip() for part in text.split("---\n"))


class Manifests(ChartTest):
    def test_have_not_drifted_from_the_chart(self):
        for helm in helms():
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([ROOT / "scripts" / "render-deploy.sh", folder], check=True, env=os.environ | {"HELM": helm})
                fresh = {path.name: documents(path.read_text()) for path in pathlib.Path(folder).iterdir()}
            kept = {path.name: documents(path.read_text()) for path in DEPLOY.glob("*.yaml")}
            self.assertEqual(sorted(fresh), sorted(kept), "run scripts/render-deploy.sh")
            for name in fresh:
                self.assertEqual(fresh[name], kept[name], f"deploy/{name}: run scripts/render-deploy.sh")

    def test_of_manual_tls_cannot_be_applied_before_somebody_put_a_ca_there(self):
        text = (DEPLOY / "20-volcano-manual-tls.yaml").read_text()
        [config] = [d for d in yaml.safe_load_all(text) if d and d["kind"] == "ValidatingWebhookConfiguration"]
        with self.assertRaises(binascii.Error):
            base64.b64decode(config["webhooks"][0]["clientConfig"]["caBundle"], validate=True)


class Certificates(ChartTest):
    def make(self, folder, *arguments):
        done = subprocess.run([ROOT / "scripts" / "make-webhook-certs.sh", "--out", folder, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def openssl(self, *arguments):
        return subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    def test_fit_the_chart(self):
        for release in ("demo", "r" * 53):
            with tempfile.TemporaryDirectory() as folder:
                self.make(folder, "--release", release, "--namespace", "guard")
                folder = pathlib.Path(folder)
                values = yaml.safe_load((folder / "values-tls.yaml").read_text())
                secret = yaml.safe_load((folder / "secret.yaml").read_text())
                tls = values["enforcement"]["webhook"]["tls"]
                out = self.render(integrated(profile(), **values), release=release)
                service = out.one("Service")["metadata"]["name"]
                self.assertIn({"name": "tls", "secret": {"secretName": secret["metadata"]["name"]}},
                              out.one("Deployment")["spec"]["template"]["spec"]["volumes"])
                self.assertEqual(secret["type"], "kubernetes.io/tls")
                self.assertEqual(secret["data"]["ca.crt"], tls["caBundle"])
                names = self.openssl("x509", "-in", folder / "tls.crt", "-noout", "-ext", "subjectAltName")
                self.assertIn(f"DNS:{service}.guard.svc,", names)
                self.openssl("verify", "-CAfile", folder / "ca.crt", "-purpose", "sslserver", folder / "tls.crt")

    def test_are_valid_an_hour_ago(self):
        with tempfile.TemporaryDirectory() as folder:
            self.make(folder)
            for file in ("tls.crt", "ca.crt"):
                text = self.openssl("x509", "-in", f"{folder}/{file}", "-noout", "-startdate").strip().removeprefix("notBefore=")
                start = calendar.timegm(time.strptime(text, "%b %d %H:%M:%S %Y GMT"))
                self.assertLess(start, time.time() - 3000)

    def test_are_renewed_under_the_same_ca(self):
        with tempfile.TemporaryDirectory() as folder:
            self.make(folder)
            ca, leaf = (pathlib.Path(folder, name).read_text() for name in ("ca.crt", "tls.crt"))
            self.assertIn("keeping the CA", self.make(folder))
            self.assertEqual(pathlib.Path(folder, "ca.crt").read_text(), ca)
            self.assertNotEqual(pathlib.Path(folder, "tls.crt").read_text(), leaf)

    def test_change_over_to_a_new_ca_with_both_trusted(self):
        with tempfile.TemporaryDirectory() as folder:
            self.make(folder)
            old, old_leaf = (pathlib.Path(folder, name).read_text() for name in ("ca.crt", "tls.crt"))
            self.make(folder, "--rotate-ca")
            bundle = pathlib.Path(folder, "ca.crt").read_text()
            self.assertTrue(bundle.endswith(old))
            self.assertEqual(bundle.count("BEGIN CERTIFICATE"), 2)
            pathlib.Path(folder, "old.crt").write_text(old_leaf)
            for leaf in ("old.crt", "tls.crt"):
                self.openssl("verify", "-CAfile", f"{folder}/ca.crt", f"{folder}/{leaf}")
            self.make(folder)  # and a plain renewal afterwards uses the new CA
            self.openssl("verify", "-CAfile", f"{folder}/ca.crt", f"{folder}/tls.crt")

    def test_are_refused_in_words(self):
        cases = {
            ("--bogus",): "unknown argument --bogus",
            ("--days",): "--days needs a value",
            ("--days", "soon"): '"soon" is no number of days',
            ("--namespace", "A B"): '"A B" is no name of a release or namespace',
            ("--rotate-ca",): "--rotate-ca: there is no CA in",
            ("--rotate-ca", "--apply"): "--rotate-ca cannot --apply",
        }
        for arguments, words in cases.items():
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([ROOT / "scripts" / "make-webhook-certs.sh", "--out", folder, *arguments], capture_output=True, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertIn(words, done.stderr)
