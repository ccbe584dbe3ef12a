"""The serving certificate and the client CA are followed while the server runs; what cannot be served changes nothing."""
import pathlib
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

from client import HOST, PATIENCE, Client
from guard import Certificates, Guard, authority, moment, server_pair, wait_until
from inputs import CASES, review

CASE = CASES / "066-certificate-rotation-without-restart"
NAMES = (f"IP:{HOST}", "DNS:localhost")
SUCCESSFUL = "xila_guard_reload_last_successful"
SOON = 10.0  # from a changed file to new handshakes, as the product promises


def rotate(folder, what):
    subprocess.run(["sh", CASE / "rotate.sh", folder, what], check=True, capture_output=True)


def new_folder(test):
    return pathlib.Path(test.enterContext(tempfile.TemporaryDirectory()))


def pair_for_days(name, days):
    """A pair by authority() that is valid for so many days; -1: until yesterday."""
    certificate, key = authority().issue(name, f"/CN={name}", NAMES)
    folder = authority().folder
    subprocess.run(["openssl", "x509", "-req", "-in", folder / f"{name}.csr", "-CA", authority().ca, "-CAkey", folder / "ca.key",
                    "-days", str(days), "-extfile", folder / f"{name}.ext", "-out", certificate], check=True, capture_output=True)
    return certificate, key


def put(source, target):
    """Replaces the file in one step."""
    fresh = target.with_name(target.name + ".new")
    shutil.copy(source, fresh)
    fresh.replace(target)


class MountedSecret(unittest.TestCase):
    """Case 066."""

    def setUp(self):
        self.folder = new_folder(self) / "tls"
        rotate(self.folder, "init")
        self.guard = self.enterContext(Guard(pair=(self.folder / "tls.crt", self.folder / "tls.key"), trust=self.folder / "bundle.crt"))
        self.ca1, self.ca2 = self.folder / "ca1.crt", self.folder / "ca2.crt"

    def shows(self, ca):
        try:
            with self.guard.client(trust=ca) as client:
                client.socket()
            return True
        except ssl.SSLCertVerificationError:
            return False

    def test_new_handshakes_show_the_new_leaf_and_nobody_loses_a_request(self):
        self.assertTrue(self.shows(self.ca1))
        self.assertFalse(self.shows(self.ca2))
        done, failures = threading.Event(), []

        def come_and_go():
            while not done.is_set():
                try:
                    if not self.guard.post(review()).allowed:
                        failures.append("denied")
                except Exception as error:  # whatever it is, a review was lost
                    failures.append(repr(error))

        visitors = [threading.Thread(target=come_and_go) for _ in range(2)]
        with self.guard.client(trust=self.ca1) as kept:
            self.assertTrue(kept.post(review()).allowed)
            first_socket = kept.socket()
            for visitor in visitors:
                visitor.start()
            rotate(self.folder, "swap")
            try:
                wait_until("the new leaf", lambda: self.shows(self.ca2), SOON, 0.01)
            finally:
                done.set()
                for visitor in visitors:
                    visitor.join(PATIENCE)
            self.assertFalse(self.shows(self.ca1))
            for _ in range(3):  # a connection of the old leaf lives on
                self.assertTrue(kept.post(review()).allowed)
            self.assertIs(kept.socket(), first_socket)
        self.assertEqual(failures, [])
        self.assertEqual(self.guard.get("/readyz").status, 200)
        self.assertEqual(self.guard.metric("xila_guard_reloads_total", what="certificate", result="taken_over"), 1)

    def test_no_session_of_the_old_leaf_is_resumed(self):
        context = self.guard.context()
        with Client(self.guard.port, context) as client:
            client.post(review())
            session = client.socket().session
        self.assertTrue(self.resumes(context, session))
        rotate(self.folder, "swap")
        wait_until("the new leaf", lambda: self.shows(self.ca2), SOON, 0.01)
        self.assertFalse(self.resumes(context, session))

    def resumes(self, context, session):
        with socket.create_connection((HOST, self.guard.port)) as plain:
            with context.wrap_socket(plain, server_hostname="localhost", session=session) as connection:
                return connection.session_reused


class Rotation(unittest.TestCase):
    def test_a_pair_that_cannot_be_served_changes_nothing_until_a_good_one_comes(self):
        others = Certificates(new_folder(self), "other-ca")
        strange = others.issue("strange", "/CN=strange", NAMES)
        old_leaf = server_pair()[0].read_text()
        broken = {
            "a key of another certificate": (None, strange[1], "private key: key values mismatch"),
            "no PEM": (b"nonsense", None, "certificate: "),
            "an expired certificate": (*pair_for_days("expired", -1), "certificate: it expired at "),
        }
        for name, (certificate, key, words) in broken.items():
            with self.subTest(name), Guard() as guard:
                if isinstance(certificate, bytes):
                    guard.certificate.write_bytes(certificate)
                else:
                    put(key, guard.key)
                    if certificate:
                        put(certificate, guard.certificate)
                guard.wait_for_log("certificate_refused")
                self.assertIn(words, guard.logged("certificate_refused")[-1]["problem"])
                guard.wait_for_metric(SUCCESSFUL, lambda value: value == 0, what="certificate")
                self.assertEqual(guard.served_certificate(), old_leaf)
                self.assertTrue(guard.post(review()).allowed)
                self.assertEqual(guard.get("/readyz").status, 200)

                put(strange[1], guard.key)
                put(strange[0], guard.certificate)
                guard.wait_for_metric(SUCCESSFUL, lambda value: value == 1, what="certificate")
                self.assertEqual(guard.served_certificate(), strange[0].read_text())

    def test_a_pair_that_is_gone_is_said_once_and_the_old_one_is_served(self):
        with Guard() as guard:
            saved = guard.folder / "saved"
            guard.certificate.rename(saved)
            refused = guard.wait_for_log("certificate_refused")
            self.assertIn("tls.crt: No such file or directory", refused["problem"])
            self.assertTrue(guard.post(review()).allowed)
            for _ in range(3):
                (guard.folder / "unrelated").touch()  # an event, and another try
                moment(0.3)
            self.assertEqual(len(guard.logged("certificate_refused")), 1)
            self.assertEqual(guard.metric("xila_guard_reloads_total", what="certificate", result="refused"), 1)
            saved.rename(guard.certificate)
            guard.wait_for_metric(SUCCESSFUL, lambda value: value == 1, what="certificate")

    def test_not_after_is_a_metric_that_follows(self):
        with Guard() as guard:
            def not_after():
                return guard.metric("xila_guard_certificate_not_after_timestamp_seconds")
            days = (not_after() - time.time()) / 86400
            self.assertTrue(29 < days <= 30, days)
            certificate, key = pair_for_days("longer", 90)
            put(key, guard.key)
            put(certificate, guard.certificate)
            wait_until("90 days", lambda: (not_after() - time.time()) / 86400 > 89, SOON)

    def test_an_expired_certificate_at_the_start_is_served_but_not_ready(self):
        pair = [pathlib.Path(shutil.copy(source, new_folder(self))) for source in pair_for_days("expired", -1)]
        guard = Guard(pair=pair)
        self.addCleanup(guard.stop)
        guard.start()
        guard.await_serving()
        ready = guard.get("/readyz")
        self.assertEqual(ready.status, 503)
        self.assertRegex(ready.text, r"^the served certificate expired at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n$")
        good = server_pair()
        put(good[1], pair[1])
        put(good[0], pair[0])
        wait_until("ready", lambda: guard.get("/readyz").status == 200, SOON, 0.01)
        self.assertTrue(guard.post(review()).allowed)


class ClientAuthority(unittest.TestCase):
    def setUp(self):
        self.folder = new_folder(self)
        self.old, self.new = (Certificates(self.folder / name, name) for name in ("old", "new"))
        self.known = self.old.issue("client", "/CN=kube-apiserver")
        self.stranger = self.new.issue("client", "/CN=kube-apiserver")
        self.trusted = self.folder / "client-ca.crt"
        shutil.copy(self.old.ca, self.trusted)
        self.audit = self.folder / "audit.jsonl"
        self.guard = self.enterContext(Guard(flags=["--client-ca-file", self.trusted, "--audit-log", self.audit]))

    def is_served(self, pair):
        try:
            return self.guard.post(review(), pair=pair).allowed
        except (ssl.SSLError, ConnectionError):  # TLS 1.3: the server's alert comes with the first read
            return False

    def test_only_clients_of_the_authority_are_served(self):
        self.assertTrue(self.is_served(self.known))
        self.assertFalse(self.is_served(self.stranger))
        self.assertFalse(self.is_served(None))
        self.guard.wait_for_metric("xila_guard_connections_dropped_total", lambda value: value == 2, listener="webhook",
                                   reason="handshake_failed")
        wait_until("an audit line", lambda: self.audit.read_text().count("\n") == 1, PATIENCE)
        self.assertIn('"clientVerified":true', self.audit.read_text())

    def test_a_new_authority_is_followed(self):
        put(self.new.ca, self.trusted)
        wait_until("the new authority's clients are served", lambda: self.is_served(self.stranger), SOON, 0.01)
        self.assertFalse(self.is_served(self.known))

    def test_a_broken_authority_changes_nothing(self):
        for text in ("nonsense", ""):
            self.trusted.write_text(text)
            self.guard.wait_for_metric(SUCCESSFUL, lambda value: value == 0, what="certificate")
            self.assertTrue(self.is_served(self.known))
            self.assertFalse(self.is_served(None))
            shutil.copy(self.old.ca, self.trusted)
            self.guard.wait_for_metric(SUCCESSFUL, lambda value: value == 1, what="certificate")

    def test_probes_need_no_certificate(self):
        for path in ("/healthz", "/readyz", "/metrics"):
            self.assertEqual(self.guard.get(path).status, 200)


if __name__ == "__main__":
    unittest.main()
