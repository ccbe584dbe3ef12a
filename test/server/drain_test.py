"""A rollout loses no review: after SIGTERM the server is unready at once, serves on, and answers what is in flight."""
import http.client
import json
import signal
import threading
import time
import unittest

from client import PATIENCE, Client
from guard import Guard, moment, wait_until
from inputs import crossing_review, review

DELAY = 3.0  # long enough for all that a test does within it, on a busy machine too


def head_of(body, extra=""):
    return (f"POST /validate/volcano?timeout=10s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n{extra}\r\n").encode()


def read_answer(connection):
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    return answer.status, answer.headers, json.loads(answer.read())


class Drain(unittest.TestCase):
    def test_unready_at_once_and_still_serving(self):
        with Guard(shutdown_delay=f"{DELAY}s") as guard, guard.client() as kept:
            self.assertTrue(kept.post(review()).allowed)
            begin = time.monotonic()
            guard.terminate()
            guard.wait_for_log("shutting_down")
            ready = guard.get("/readyz")
            self.assertEqual((ready.status, ready.text), (503, "shutting down\n"))
            self.assertEqual(guard.get("/healthz").status, 200)  # a restart now would lose what is in flight

            last = kept.post(review())
            self.assertTrue(last.allowed)
            self.assertEqual(last.headers["Connection"], "close")
            fresh = guard.post(review())
            self.assertTrue(fresh.allowed)
            self.assertEqual(fresh.headers["Connection"], "close")
            self.assertEqual(guard.post(crossing_review()).checks, {"host-namespace", "host-path", "node-pin", "privileged"})
            self.assertLess(time.monotonic() - begin, DELAY, "too slow a machine to judge by")

            self.assertEqual(guard.wait(), 0)
            self.assertGreaterEqual(time.monotonic() - begin, DELAY)
            guard.wait_for_log("stopped")
            self.assertEqual(guard.logged("reviews_cut_off"), [])
            with self.assertRaises(OSError):
                guard.post(review())

    # In flight in every way: the head half sent, the body half sent, connected without a word, a handshake begun.
    def test_what_is_in_flight_when_the_listener_closes_is_answered(self):
        body = json.dumps(review()).encode()
        head = head_of(body)
        with Guard() as guard:
            half_head, half_body, silent = guard.raw(), guard.raw(), guard.raw()
            half_head.sendall(head[:20])
            half_body.sendall(head + body[:200])
            guard.wait_for_metric("xila_guard_connections", lambda value: value == 3, listener="webhook")
            guard.post(review())  # a whole round trip: what was sent before has been read
            guard.terminate()
            guard.wait_for_log("shutting_down")
            silent.sendall(head + body)
            half_head.sendall(head[20:] + body)
            half_body.sendall(body[200:])
            for connection in (half_head, half_body, silent):
                status, headers, answer = read_answer(connection)
                self.assertEqual(status, 200)
                self.assertTrue(answer["response"]["allowed"])
                self.assertEqual(headers["Connection"], "close")
                connection.close()
            self.assertEqual(guard.wait(), 0)
            self.assertEqual(guard.logged("reviews_cut_off"), [])

    def test_idle_connections_do_not_hold_up_the_end(self):
        with Guard() as guard:
            idle = [guard.client() for _ in range(5)]
            for client in idle:
                client.post(review())
            begin = time.monotonic()
            self.assertEqual(guard.stop(), 0)
            self.assertLess(time.monotonic() - begin, 5)
            for client in idle:
                client.connection.close()

    # Clients that honour `Connection: close`, and that go elsewhere once the endpoint is gone from the Service, as the API
    # server does. Until then they never pause.
    def test_under_load_no_request_is_lost(self):
        with Guard(shutdown_delay=f"{DELAY}s") as guard:
            gone = threading.Event()
            counts, lost = [0] * 8, []
            contexts = guard.context()

            def ask(index):
                client = Client(guard.port, contexts)
                while not (gone.is_set() and client.connection.sock is None):
                    try:
                        answer = client.post(review(uid=f"load-{index}-{counts[index]}"))
                        if not answer.allowed or answer.response["uid"] != f"load-{index}-{counts[index]}":
                            lost.append(repr(answer))
                        counts[index] += 1
                    except Exception as error:  # whatever it is, a review was lost
                        lost.append(repr(error))
                        client.connection.close()

            clients = [threading.Thread(target=ask, args=(index,)) for index in range(len(counts))]
            for client in clients:
                client.start()
            wait_until("load", lambda: min(counts) > 5 or lost, PATIENCE)
            guard.terminate()
            wait_until("unready", lambda: guard.get("/readyz").status == 503, PATIENCE, 0.005)
            before = sum(counts)
            moment(0.5)  # endpoint slices and proxies take their time
            gone.set()
            for client in clients:
                client.join(PATIENCE)
            self.assertEqual(lost[:3], [])
            self.assertGreater(sum(counts), before)  # served while shutting down
            self.assertEqual(guard.wait(), 0)
            self.assertEqual(guard.logged("reviews_cut_off"), [])

    def test_a_second_signal_ends_the_waiting(self):
        with Guard(shutdown_delay="10m") as guard:
            guard.terminate()
            guard.wait_for_log("shutting_down")
            guard.terminate()
            self.assertEqual(guard.wait(), 0)

    def test_ctrl_c_is_the_same(self):
        with Guard() as guard:
            guard.stop_asked = True
            guard.process.send_signal(signal.SIGINT)
            self.assertEqual(guard.wait(), 0)
            self.assertEqual(guard.wait_for_log("shutting_down")["signal"], signal.SIGINT)

    # The request that never ends may not keep the process beyond Kubernetes' grace period.
    def test_a_request_that_never_comes_whole_is_cut_off_after_the_request_timeout(self):
        body = json.dumps(review()).encode()
        with Guard(flags=["--request-timeout", "1s"]) as guard:
            connection = guard.raw()
            connection.sendall(head_of(body) + body[:100])
            guard.post(review())
            self.assertEqual(guard.stop(), 0)
            self.assertEqual(guard.wait_for_log("reviews_cut_off")["count"], 1)
            connection.close()


if __name__ == "__main__":
    unittest.main()
