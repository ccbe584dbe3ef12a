"""What a peer may use up: bytes, time, connections, descriptors. Whoever takes too much is refused, and nobody else notices."""
import contextlib
import json
import os
import socket
import ssl
import threading
import time
import unittest

from client import HOST, PATIENCE, Client, parse_metrics, seconds_until_ended
from guard import SANITIZED, Guard, moment, wait_until
from inputs import CASES, JSON_HEAD, review

MIB = 1 << 20


def padded(bytes_wanted, body):
    """The review with an annotation that makes it about so large."""
    for key in ("object", "oldObject"):
        pod = body["request"].get(key)
        if pod:
            pod["metadata"]["annotations"] = {"padding": "x" * bytes_wanted}
    return json.dumps(body).encode()


def update_of(size):
    """An UPDATE: two objects of `size` each."""
    body = review()
    body["request"]["operation"] = "UPDATE"
    body["request"]["oldObject"] = json.loads(json.dumps(body["request"]["object"]))
    return padded(size, body)


def status_of(connection):
    return int(connection.recv(4096).split(b" ")[1])


class Bodies(unittest.TestCase):
    def setUp(self):
        self.guard = self.enterContext(Guard())

    def test_large_reviews_are_answered(self):
        self.assertTrue(self.guard.post((CASES / "047-body-over-one-mebibyte" / "review.json").read_bytes()).allowed)
        body = update_of(3 * MIB)
        self.assertGreater(len(body), 6 * MIB)
        self.assertTrue(self.guard.post(body).allowed)
        self.assertTrue(self.guard.post(padded(1024, review())).allowed)

    def test_too_large_is_refused_from_the_head(self):
        for head in (f"Content-Length: {16 * MIB}", f"Content-Length: {8 * MIB + 1}", f"Content-Length: {1 << 60}"):
            with self.subTest(head), self.guard.raw() as connection:
                connection.sendall(f"{JSON_HEAD}{head}\r\n\r\n".encode())
                answer = connection.recv(4096).decode()
                self.assertRegex(answer, r"^HTTP/1.1 413 ")
                self.assertIn("Connection: close", answer)
                self.assertIn("request body over the limit of 8388608 bytes\n", answer)

    def test_the_limit_is_a_flag(self):
        with Guard(flags=["--max-request-bytes", "10000"]) as guard:
            self.assertTrue(guard.post(review()).allowed)
            self.assertEqual(guard.post(padded(10000, review())).status, 413)

    def test_a_chunked_body_is_refused_once_it_passes_the_limit(self):
        with self.guard.raw() as connection:
            connection.sendall(f"{JSON_HEAD}Transfer-Encoding: chunked\r\n\r\n".encode())
            chunk = b"100000\r\n" + b" " * MIB + b"\r\n"
            sent = 0
            with contextlib.suppress(ConnectionError, ssl.SSLError):
                for sent in range(1, 33):
                    connection.sendall(chunk)
            self.assertGreaterEqual(sent, 8)
            self.assertEqual(status_of(connection), 413)

    def test_a_chunked_review_is_answered(self):
        body = json.dumps(review()).encode()
        with self.guard.raw() as connection:
            connection.sendall(f"{JSON_HEAD}Transfer-Encoding: chunked\r\n\r\n".encode())
            for begin in range(0, len(body), 1000):
                part = body[begin:begin + 1000]
                connection.sendall(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            connection.sendall(b"0\r\n\r\n")
            self.assertEqual(status_of(connection), 200)

    # Two readers that disagree on where a request ends can be made to see different requests.
    def test_a_head_of_two_meanings_is_refused(self):
        body = json.dumps(review())
        for head in (f"Content-Length: {len(body)}\r\nTransfer-Encoding: chunked", f"Content-Length: {len(body)}\r\nContent-Length: 5",
                     "Content-Length: -1", "Content-Length: 0x10", "Transfer-Encoding: chunked, identity"):
            with self.subTest(head), self.guard.raw() as connection:
                connection.sendall(f"{JSON_HEAD}{head}\r\n\r\n{body}".encode())
                self.assertEqual(status_of(connection), 400)

    def test_a_head_over_the_limit_is_refused(self):
        with self.guard.raw() as connection:
            with contextlib.suppress(ConnectionError, ssl.SSLError):
                connection.sendall(f"{JSON_HEAD}X-Padding: {'x' * (32 << 10)}\r\n\r\n".encode())
            self.assertEqual(status_of(connection), 431)

    def test_ten_at_once_neither_stall_nor_fill_the_server(self):
        self.guard.post(review())
        before = self.guard.resident_bytes()
        done, slowest, most = threading.Event(), 0.0, 0

        def push():
            """Sends 16 MiB without a look at the answer, as a careless client does."""
            head = f"{JSON_HEAD}Content-Length: {16 * MIB}\r\n\r\n".encode()
            with contextlib.suppress(OSError):
                with self.guard.raw() as connection:
                    connection.sendall(head)
                    for _ in range(16):
                        connection.sendall(b" " * MIB)
                    connection.recv(4096)

        pushing = [threading.Thread(target=push) for _ in range(10)]
        for thread in pushing:
            thread.start()
        with self.guard.client() as client:
            while any(thread.is_alive() for thread in pushing):
                begin = time.monotonic()
                self.assertTrue(client.post(review()).allowed)
                slowest = max(slowest, time.monotonic() - begin)
                most = max(most, self.guard.resident_bytes())
        for thread in pushing:
            thread.join(PATIENCE)
        self.assertLess(slowest, 5)
        self.assertEqual(self.guard.metric("xila_guard_http_responses_total", listener="webhook", code="413"), 10)
        if not SANITIZED:
            self.assertLess(most - before, 10 * MIB)

    @unittest.skipIf(SANITIZED, "a sanitizer keeps freed memory")
    def test_memory_is_given_back(self):
        large = padded(int(1.3 * MIB), review())
        huge = update_of(3 * MIB)
        self.guard.post(large)
        before = self.guard.resident_bytes()
        clients = [self.enterContext(self.guard.client()) for _ in range(8)]
        for _ in range(3):
            for client in clients:
                self.assertTrue(client.post(huge).allowed)
                self.assertTrue(client.post(large).allowed)
        after_some = self.guard.resident_bytes()
        for _ in range(10):
            for client in clients:
                client.post(large)
        grown, more = after_some - before, self.guard.resident_bytes() - after_some
        print(f"resident: {before / MIB:.1f} MiB, +{grown / MIB:.1f} after 6 MiB reviews on 8 connections, "
              f"{more / MIB:+.1f} after 80 of 1.3 MiB")
        self.assertLess(more, 8 * MIB)
        self.assertLess(grown, 64 * MIB)

    # What is claimed but never sent may not keep others out: 20 times 8 MiB is more than all bodies may hold.
    def test_bodies_that_are_announced_and_never_sent_do_not_keep_others_out(self):
        body = padded(int(1.3 * MIB), review())
        with contextlib.ExitStack() as stack:
            for _ in range(20):
                connection = stack.enter_context(self.guard.raw())
                connection.sendall(f"{JSON_HEAD}Content-Length: {8 * MIB}\r\n\r\n{{".encode())
            self.guard.wait_for_metric("xila_guard_connections", lambda value: value == 20, listener="webhook")
            for _ in range(3):
                self.assertTrue(self.guard.post(review()).allowed)
                self.assertTrue(self.guard.post(body).allowed)


class Connections(unittest.TestCase):
    def test_many_are_kept(self):
        with Guard() as guard, contextlib.ExitStack() as stack:
            before = guard.resident_bytes()
            context = guard.context()
            clients = [stack.enter_context(Client(guard.port, context)) for _ in range(300)]
            for client in clients:
                self.assertTrue(client.post(review()).allowed)
            sockets = [client.socket() for client in clients]
            self.assertEqual(guard.metric("xila_guard_connections", listener="webhook"), 300)
            for client, was in zip(clients, sockets):
                self.assertTrue(client.post(review()).allowed)
                self.assertIs(client.socket(), was)
            print(f"resident for each of 300 connections: {(guard.resident_bytes() - before) / 300 / 1024:.0f} KiB")

    def test_with_all_places_taken_the_idle_go_first(self):
        with Guard(flags=["--max-connections", "20", "--threads", "1"]) as guard, contextlib.ExitStack() as stack:
            asked = stack.enter_context(guard.client())
            self.assertTrue(asked.post(review()).allowed)
            was = asked.socket()
            at_work = stack.enter_context(guard.raw())
            body = json.dumps(review()).encode()
            at_work.sendall(f"{JSON_HEAD}Content-Length: {len(body)}\r\n\r\n".encode() + body[:100])
            self.assertTrue(asked.post(review()).allowed)  # a round trip on the one thread: it has read what was sent before
            for _ in range(60):  # they never say a word
                stack.enter_context(guard.raw(plain=True))
            at_work.sendall(body[100:])
            self.assertEqual(status_of(at_work), 200)
            self.assertTrue(guard.post(review()).allowed)
            self.assertTrue(asked.post(review()).allowed)
            self.assertIs(asked.socket(), was)
            guard.wait_for_metric("xila_guard_connections", lambda value: value <= 20, listener="webhook")  # once they have ended
            self.assertGreaterEqual(guard.metric("xila_guard_connections_dropped_total", listener="webhook", reason="evicted"), 40)

    def test_requests_that_stop_in_the_middle_cannot_take_all_places(self):
        with Guard(flags=["--max-connections", "20", "--threads", "2"]) as guard, contextlib.ExitStack() as stack:
            for _ in range(20):
                stalled = stack.enter_context(guard.raw())
                stalled.sendall(f"{JSON_HEAD}Content-Length: 5000\r\n\r\n{{".encode())
            moment(2)  # after the first second they count as stalled
            with guard.client() as client:
                for _ in range(5):
                    self.assertTrue(client.post(review()).allowed)

    # The answer is out, and the peer neither sends the body that it announced nor reads what it asked for.
    def test_peers_that_are_answered_and_stay_cannot_take_all_places(self):
        refused = b"POST /nope HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n"
        with Guard(flags=["--max-connections", "8", "--threads", "1"]) as guard, contextlib.ExitStack() as stack:
            for _ in range(4):
                waiting = stack.enter_context(guard.raw())
                waiting.sendall(refused)
                self.assertEqual(status_of(waiting), 404)
                deaf = stack.enter_context(guard.raw())
                deaf.settimeout(1)
                with contextlib.suppress(TimeoutError):  # once its answers fill the way back, nobody reads what it sends
                    while True:
                        deaf.sendall(b"GET /nope HTTP/1.1\r\nHost: x\r\n\r\n" * 1000)
            moment(2)  # after the first second they count as stalled
            with guard.client() as client:
                for _ in range(5):
                    self.assertTrue(client.post(review()).allowed)

    def test_a_port_scan_does_no_harm(self):
        with Guard() as guard:
            for _ in range(200):
                guard.raw(plain=True).close()
            for words in (b"GET / HTTP/1.1\r\n\r\n", b"\x00" * 100, b"\x16\x03\x01\xff\xff" + os.urandom(500)):
                with guard.raw(plain=True) as connection:
                    connection.sendall(words)
                    self.assertLess(seconds_until_ended(connection, time.monotonic()), 15)
            self.assertTrue(guard.post(review()).allowed)


def limited_to(soft, hard):
    """A launcher that runs its command with these limits on open files."""
    return ["prlimit", f"--nofile={soft}:{hard}"]


@unittest.skipIf(SANITIZED, "a sanitizer needs descriptors of its own")
class Descriptors(unittest.TestCase):
    def test_the_soft_limit_is_raised(self):
        with Guard(launcher=limited_to(64, 4096)) as guard, contextlib.ExitStack() as stack:
            clients = [stack.enter_context(guard.client()) for _ in range(200)]
            for client in clients:
                self.assertTrue(client.post(review()).allowed)
            self.assertEqual(guard.metric("xila_guard_connections", listener="webhook"), 200)
            self.assertEqual(guard.logged("fewer_connections"), [])

    def test_with_few_the_connections_are_limited_and_it_says_so(self):
        with Guard(launcher=limited_to(64, 64)) as guard, contextlib.ExitStack() as stack:
            self.assertEqual(guard.wait_for_log("fewer_connections")["connections"], 32)
            for _ in range(60):
                self.assertTrue(stack.enter_context(guard.client()).post(review()).allowed)
            with Client(guard.operations_port) as operations:
                self.assertEqual(operations.request("GET", "/healthz").status, 200)

    # Connections that say nothing, on both listeners, take all there are.
    def test_with_none_left_both_listeners_make_places(self):
        with Guard(launcher=limited_to(40, 40)) as guard, contextlib.ExitStack() as stack:
            operations = stack.enter_context(Client(guard.operations_port))

            def failures():
                text = operations.request("GET", "/metrics").text
                return sum(value for (name, _), value in parse_metrics(text).items() if name == "xila_guard_accept_failures_total")

            self.assertEqual(failures(), 0)
            for _ in range(60):  # the kernel's queue takes those that the server cannot
                for port in (guard.port, guard.operations_port):
                    stack.callback(socket.create_connection((HOST, port), PATIENCE).close)
            wait_until("accept fails", lambda: failures() > 0, PATIENCE)
            cpu, begin = guard.cpu_seconds(), time.monotonic()
            moment(2)
            self.assertLess((guard.cpu_seconds() - cpu) / (time.monotonic() - begin), 0.2, "CPU for each second without a descriptor")
            for _ in range(20):
                self.assertTrue(guard.post(review()).allowed)
                with Client(guard.operations_port) as probe:
                    self.assertEqual(probe.request("GET", "/healthz").status, 200)
            self.assertLessEqual(len(guard.logged("accept_failed")), 4)


if __name__ == "__main__":
    unittest.main()
