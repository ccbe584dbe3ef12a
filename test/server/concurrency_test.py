"""Many clients at once: each gets the answer to its own question, whatever the others ask."""
import json
import threading
import unittest

from client import PATIENCE
from guard import Guard
from inputs import FOUR_CHECKS, REVIEWS, crossing_review, review

CLIENTS, ROUNDS = 24, 40


def questions():
    """(body, path, allowed, checks) of many kinds and sizes; the uid is filled in for each use."""
    yield review(), "/validate/volcano", True, set()
    yield review(), "/validate", True, set()
    yield crossing_review(), "/validate/unknown", False, FOUR_CHECKS
    yield review(namespace="team-b"), "/validate/volcano", False, {"tenant"}
    yield review(schedulerName="other" * 50), "/validate/volcano", False, {"scheduler"}
    large = review(hostPID=True)
    large["request"]["object"]["metadata"]["annotations"] = {"padding": "é" * 300_000}
    yield large, "/validate/volcano", False, {"host-namespace"}
    for name, want in json.loads((REVIEWS / "expect.json").read_text()).items():
        if name.startswith("volcano/"):
            yield json.loads((REVIEWS / name).read_text()), "/validate/volcano", want["allowed"], set(want["checks"])


class Concurrency(unittest.TestCase):
    def test_each_client_gets_its_own_answers(self):
        asked, wrong = list(questions()), []

        def ask(guard, index):
            with guard.client() as client:
                for turn in range(ROUNDS):
                    body, path, allowed, checks = asked[(index + turn) % len(asked)]
                    uid = f"uid-{index}-{turn}"
                    answer = client.post({**body, "request": body["request"] | {"uid": uid}}, path)
                    if (answer.status, answer.response["uid"], answer.allowed, answer.checks) != (200, uid, allowed, checks):
                        wrong.append((path, allowed, checks, answer))

        def guarded(guard, index):
            try:
                ask(guard, index)
            except Exception as error:  # a lost answer is a wrong one
                wrong.append(error)

        with Guard(profiles=REVIEWS / "volcano" / "profiles.yaml", flags=["--threads", "4"]) as guard:
            threads = [threading.Thread(target=guarded, args=(guard, index)) for index in range(CLIENTS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(PATIENCE * 2)
            self.assertEqual(wrong[:3], [])
            self.assertEqual(guard.metric("xila_guard_reviews_total"), CLIENTS * ROUNDS)
            self.assertEqual(guard.metric("xila_guard_handler_exceptions_total"), 0)

    # What follows in the same packet belongs to the next request.
    def test_requests_sent_ahead_are_answered_in_order(self):
        bodies = [json.dumps(review(uid=f"ahead-{number}", hostPID=number % 2 == 1)).encode() for number in range(50)]
        with Guard() as guard, guard.raw() as connection:
            sender = threading.Thread(target=connection.sendall, args=(b"".join(
                b"POST /validate/volcano HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                % (len(body), body) for body in bodies),))
            sender.start()
            stream = connection.makefile("rb")
            for number in range(len(bodies)):
                self.assertIn(b" 200 ", stream.readline())
                length = 0
                while (line := stream.readline().strip()):
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                response = json.loads(stream.read(length))["response"]
                self.assertEqual((response["uid"], response["allowed"]), (f"ahead-{number}", number % 2 == 0))
            sender.join(PATIENCE)


if __name__ == "__main__":
    unittest.main()
