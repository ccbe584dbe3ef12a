"""Cases from the field (fixtures/cases/README.md) against one server that must outlive them all.

After every body `_common/ok.json` must still be allowed.
"""
import json
import subprocess
import sys
import unittest

import yaml

from guard import Guard, run_guard
from inputs import CASES, COMMON

# Cases in words, and who tests them.
IN_WORDS = {
    "046-content-type-parameters": "below",
    "064-configmap-data-symlink-swap": "reload_test.py",
    "066-certificate-rotation-without-restart": "rotation_test.py",
    "070-helm-upgrade-keeps-ca": "test/chart",
    "072-helm-selector-values-stay-strings": "test/chart",
    "075-webhook-must-not-block-its-own-pods": "test/chart",
    "077-watch-gone-and-bookmarks": "test/kube",
}
OVERSIZE = "make_oversize.py 16"


def outcomes(case):
    """{file name: outcome} of a case."""
    want = json.loads((case / "expect.json").read_text())
    if "http" not in want and "config" not in want:
        return want
    bodies = [path.name for path in case.iterdir() if path.suffix in (".json", ".bin") and path.name != "expect.json"]
    return {name: want for name in bodies}


def all_outcomes(*kinds):
    """(case, file name, outcome) of the outcomes that have one of these keys."""
    for case in sorted(CASES.glob("[0-9]*")):
        if (case / "expect.json").exists():
            for name, want in outcomes(case).items():
                if any(kind in want for kind in kinds):
                    yield case, name, want


def cluster_policy():
    """The policy file that says what _common/cluster.yaml assumes."""
    cluster = yaml.safe_load((COMMON / "cluster.yaml").read_text())
    key = cluster["tenantLabel"]
    tenants = {name: space["labels"][key] for name, space in cluster["namespaces"].items() if space["labels"].get(key)}
    return json.dumps({
        "apiVersion": "guard.xila.us/v1alpha1", "kind": "GuardPolicy", "tenants": {"namespaceLabel": key, "namespaces": tenants},
        "trustedDaemonSetServiceAccounts": cluster["trustedDaemonSetServiceAccounts"],
        "daemonSetControllerUser": cluster["daemonSetControllerUser"]})


class FieldCases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.guard = cls.enterClassContext(Guard(policy=cluster_policy()))

    def test_every_case_is_judged_somewhere(self):
        for case in CASES.glob("[0-9]*"):
            with self.subTest(case.name):
                self.assertNotEqual((case / "expect.json").exists(), case.name in IN_WORDS)
        for case, _, _ in all_outcomes("http"):
            self.assertFalse(list(case.glob("*.yaml")), f"{case.name} needs a server of its own")

    def test_each_body_gets_its_outcome_and_the_server_lives_on(self):
        for case, name, want in all_outcomes("http"):
            with self.subTest(f"{case.name}/{name}"):
                if name == OVERSIZE:
                    self.refuse_from_the_head(case, want)
                else:
                    self.judge((case / name).read_bytes(), want)
                self.assertTrue(self.guard.alive())
                self.assertTrue(self.guard.post((COMMON / "ok.json").read_bytes()).allowed)

    def judge(self, body, want):
        answer = self.guard.post(body)
        self.assertIn(answer.status, [want["http"], *want.get("http_alt", ())], answer)
        if answer.status != 200:
            self.assertFalse(want["allowed"])
            self.assertEqual(answer.text.count("\n"), 1, answer)  # one line, for whoever reads the API server's log
            return
        document = json.loads(answer.body.decode())
        self.assertEqual((document["kind"], document["apiVersion"]), ("AdmissionReview", "admission.k8s.io/v1"))
        uid = want.get("uid") or json.loads(body)["request"]["uid"]
        response = document["response"]
        self.assertEqual(response["uid"], uid)
        self.assertIs(response["allowed"], bool(want["allowed"]), answer)
        self.assertNotIn("patch", response)
        if not response["allowed"]:
            self.assertGreaterEqual(response["status"]["code"], 400)
            self.assertTrue(response["status"]["message"])
        self.assertLessEqual(set(want["reasons"]), answer.checks, answer)
        self.assertFalse(set(want.get("must_not", ())) & answer.checks, answer)

    # The answer comes from the head alone: not one byte of the body is sent.
    def refuse_from_the_head(self, case, want):
        body = subprocess.run([sys.executable, case / "make_oversize.py", "16"], capture_output=True, check=True).stdout
        self.assertGreater(len(body), 15 << 20)
        with self.guard.raw() as connection:
            connection.sendall(f"POST /validate/volcano?timeout=10s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                               f"Content-Length: {len(body)}\r\n\r\n".encode())
            self.assertEqual(int(connection.recv(4096).split(b" ")[1]), want["http"])

    def test_each_profiles_file_is_taken_or_refused(self):
        for case, name, want in all_outcomes("config"):
            with self.subTest(f"{case.name}/{name}"):
                code, out, error = run_guard("profiles", case / name)
                self.assertEqual(code, 0 if want["config"] == "accept" else 1, error)
                if code:
                    for words in [name, *want["error_mentions"]]:
                        self.assertIn(words, out + error)

    def test_046_media_type_parameters(self):
        body = (CASES / "046-content-type-parameters" / "review.json").read_bytes()
        for content_type in ("application/json", "application/json; charset=utf-8", "APPLICATION/JSON",
                             'application/json;charset="UTF-8"'):
            with self.subTest(content_type):
                self.assertTrue(self.guard.post(body, content_type=content_type).allowed)
        for content_type in ("text/plain", "application/jsonp", "application/vnd.kubernetes.protobuf", "", None):
            with self.subTest(content_type):
                answer = self.guard.post(body, content_type=content_type)
                self.assertEqual(answer.status, 415, answer)
                self.assertIn("application/json", answer.text)


if __name__ == "__main__":
    unittest.main()
