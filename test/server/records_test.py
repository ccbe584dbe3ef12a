"""TLS records as peers cut them: many at once, or one that is not whole yet behind others. Go's begin with small ones."""
import json
import socket
import ssl
import unittest

from client import HOST, PATIENCE
from guard import Guard
from inputs import JSON_HEAD, review


class Records:
    """A TLS client that cuts its records itself and chooses what is sent together."""

    def __init__(self, guard):
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = guard.context().wrap_bio(self._in, self._out, server_hostname="localhost")
        self._socket = socket.create_connection((HOST, guard.port), PATIENCE)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._until_done(self._tls.do_handshake)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def _until_done(self, step):
        while True:
            try:
                result = step()
                self._socket.sendall(self._out.read())
                return result
            except ssl.SSLWantReadError:
                self._socket.sendall(self._out.read())
                received = self._socket.recv(1 << 16)
                if not received:
                    raise ConnectionError("the server closed the connection")
                self._in.write(received)

    def records(self, text, size):
        """`text` in records of `size` bytes, encrypted and not sent."""
        for begin in range(0, len(text), size):
            self._tls.write(text[begin:begin + size])
        return self._out.read()

    def send(self, encrypted):
        self._socket.sendall(encrypted)

    def answer(self):
        text = b""
        while b'"auditAnnotations"' not in text or not text.endswith(b"}}}"):
            text += self._until_done(lambda: self._tls.read(1 << 16))
        return text


def request():
    body = review()
    body["request"]["object"]["metadata"]["annotations"] = {"padding": "x" * 20_000}
    text = json.dumps(body).encode()
    return f"{JSON_HEAD}Content-Length: {len(text)}\r\n\r\n".encode() + text


class TlsRecords(unittest.TestCase):
    def test_a_request_is_read_however_it_is_cut(self):
        with Guard() as guard, Records(guard) as peer:
            for size in (7, 100, 1_400, 16_384):
                with self.subTest(record=size):
                    peer.send(peer.records(request(), size))
                    self.assertIn(b'"allowed":true', peer.answer())

    def test_the_rest_of_a_record_is_waited_for_and_nobody_else_waits(self):
        with Guard() as guard, Records(guard) as slow, Records(guard) as other:
            encrypted = slow.records(request(), 1_400)
            for cut in (1, 4, 6, 700, 1_421, 1_423, 15_000, len(encrypted) - 1):
                with self.subTest(cut=cut):
                    slow.send(encrypted[:cut])
                    other.send(other.records(request(), 16_384))
                    self.assertIn(b'"allowed":true', other.answer())
                    slow.send(encrypted[cut:])
                    self.assertIn(b'"allowed":true', slow.answer())
                    encrypted = slow.records(request(), 1_400)

    def test_two_requests_in_one_record_are_both_answered(self):
        with Guard() as guard, Records(guard) as peer:
            text = request()
            peer.send(peer.records(text + text, 16_384))
            answers = peer.answer()
            while answers.count(b"HTTP/1.1 200") < 2:
                answers += peer.answer()

    def test_a_forged_record_behind_a_good_one_ends_the_connection(self):
        with Guard() as guard, Records(guard) as peer:
            encrypted = bytearray(peer.records(request(), 1_400))
            encrypted[2_000] ^= 1
            peer.send(bytes(encrypted))
            with self.assertRaises((ConnectionError, ssl.SSLError, OSError)):
                peer.answer()
            self.assertEqual(guard.metric("xila_guard_reviews_total"), 0)


if __name__ == "__main__":
    unittest.main()
