"""Whoever takes too long is ended, and nobody waits for him."""
import contextlib
import threading
import time
import unittest

from client import seconds_until_ended
from guard import Guard, moment
from inputs import JSON_HEAD, review


class SlowPeers(unittest.TestCase):
    # Together, since each is a wait: a silent connection, half a hello, half a head, a head by the byte, half a body.
    def test_the_slow_are_ended_and_the_others_served(self):
        with Guard() as guard, contextlib.ExitStack() as stack:
            begin = time.monotonic()
            silent, half_hello = (stack.enter_context(guard.raw(plain=True)) for _ in range(2))
            half_hello.sendall(b"\x16\x03\x01")
            half_head, trickle, half_body = (stack.enter_context(guard.raw()) for _ in range(3))
            half_head.sendall(b"POST /validate")
            half_body.sendall(f"{JSON_HEAD}Content-Length: 5000\r\n\r\n{{".encode())

            def drip():
                with contextlib.suppress(OSError):
                    for byte in JSON_HEAD * 10:
                        trickle.sendall(byte.encode())
                        moment(0.5)

            threading.Thread(target=drip, daemon=True).start()
            waiting = {"silent": (silent, 10), "half a hello": (half_hello, 10), "half a head": (half_head, 10), "trickle": (trickle, 10),
                       "half a body": (half_body, 30)}
            took = {}
            threads = [threading.Thread(target=lambda n=name, c=connection: took.update({n: seconds_until_ended(c, begin)}))
                       for name, (connection, _) in waiting.items()]
            for thread in threads:
                thread.start()
            with guard.client() as client:
                while any(thread.is_alive() for thread in threads):
                    self.assertTrue(client.post(review()).allowed)
                    moment(0.2)
            for name, (_, limit) in waiting.items():
                with self.subTest(name):
                    self.assertGreater(took[name], limit - 1)
                    self.assertLess(took[name], limit + 10)
            for reason, count in (("handshake_timeout", 2), ("header_timeout", 2), ("body_timeout", 1)):
                self.assertEqual(guard.metric("xila_guard_connections_dropped_total", listener="webhook", reason=reason), count)


if __name__ == "__main__":
    unittest.main()
