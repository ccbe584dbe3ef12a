"""Every recorded review of a real API server gets its answer, over TLS, on its orchestrator's path."""
import json
import unittest

from guard import Guard
from inputs import REVIEWS

EXPECTED = json.loads((REVIEWS / "expect.json").read_text())
ORCHESTRATORS = sorted({name.split("/")[0] for name in EXPECTED})


class RecordedReviews(unittest.TestCase):
    def test_every_recording_has_an_expected_answer_and_the_other_way_round(self):
        recorded = {f"{path.parent.name}/{path.name}" for path in REVIEWS.glob("*/*.json")}
        self.assertEqual(recorded, set(EXPECTED))

    def test_each_gets_its_exact_answer(self):
        for orchestrator in ORCHESTRATORS:
            with Guard(profiles=REVIEWS / orchestrator / "profiles.yaml") as guard, guard.client() as client:
                for name, want in EXPECTED.items():
                    if name.startswith(orchestrator + "/"):
                        with self.subTest(name):
                            self.judge(client, name, want)

    def judge(self, client, name, want):
        body = (REVIEWS / name).read_bytes()
        answer = client.post(body, f"/validate/{name.split('/')[0]}")
        self.assertEqual(answer.status, 200, answer)
        document = json.loads(answer.body)
        self.assertEqual((document["apiVersion"], document["kind"]), ("admission.k8s.io/v1", "AdmissionReview"))
        response = document["response"]
        self.assertEqual(response["uid"], json.loads(body)["request"]["uid"])
        self.assertIs(response["allowed"], want["allowed"], answer)
        self.assertEqual(answer.checks, set(want["checks"]), answer)
        self.assertEqual(set(filter(None, response["auditAnnotations"]["checks"].split(","))), set(want["checks"]))
        self.assertNotIn("patch", response)
        self.assertNotIn("Retry-After", answer.headers)
        if not want["allowed"]:
            bad_request = "malformed" in want["checks"]
            self.assertEqual((response["status"]["code"], response["status"]["reason"]),
                             (400, "BadRequest") if bad_request else (403, "Forbidden"))
            for check in want["checks"]:
                self.assertIn(f"[{check}] ", response["status"]["message"])


if __name__ == "__main__":
    unittest.main()
