"""How the server starts: soon and with its files, or not at all and with the reason."""
import os
import pathlib
import re
import socket
import ssl
import subprocess
import tempfile
import time
import unittest
import warnings

from client import HOST, PATIENCE
from guard import SANITIZED, Certificates, Guard, moment, run_guard, server_pair
from inputs import CASES, COMMON, FOUR_CHECKS, crossing_review, policy_text, profiles_text, review

BROKEN = CASES / "064-configmap-data-symlink-swap" / "v3-broken.yaml"
SOON = 30.0 if SANITIZED else 2.0  # the product promises 0.1 s on a quiet machine


def is_listening(pid):
    """Whether the process has a listening TCP socket."""
    own = set()
    for descriptor in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            own.add(os.readlink(descriptor))
        except OSError:
            pass
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in own:
                return True
    return False


class Start(unittest.TestCase):
    def test_ready_soon_and_small(self):
        best = PATIENCE
        for _ in range(3):
            server = Guard()
            begin = time.monotonic()
            with server as guard:
                best = min(best, time.monotonic() - begin)
                resident = guard.resident_bytes()
        print(f"ready after {best * 1000:.0f} ms (asked by a Python client), {resident / (1 << 20):.1f} MiB resident when idle")
        self.assertLess(best, SOON)
        if not SANITIZED:  # most of it are pages of shared libraries, and how many depends on the kernel
            self.assertLess(resident, 16 << 20)

    # The profiles are a pipe that nobody writes to yet: the server waits for them, and meanwhile there is nobody to ask.
    def test_nobody_is_answered_before_the_files_are_read(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        pipe = folder / "profiles.yaml"
        os.mkfifo(pipe)
        guard = Guard(profiles=pipe)
        self.addCleanup(guard.stop)
        guard.start()
        with pipe.open("w") as writer:  # returns once the server reads
            moment(0.3)
            self.assertTrue(guard.alive())
            self.assertFalse(is_listening(guard.process.pid))
            pipe.unlink()  # or the next reload would wait for a writer
            writer.write((COMMON / "profiles.yaml").read_text())
        guard.await_serving()
        self.assertTrue(is_listening(guard.process.pid))
        self.assertTrue(guard.post(review()).allowed)
        self.assertEqual(guard.post(crossing_review()).checks, FOUR_CHECKS)

    def test_flags_come_from_the_environment_and_the_command_line_wins(self):
        certificate, key = server_pair()
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        profiles, policy = folder / "profiles.yaml", folder / "policy.yaml"
        profiles.write_text((COMMON / "profiles.yaml").read_text())
        policy.write_text(policy_text({"team-a": "team-a"}))
        guard = Guard(env={
            "XILA_GUARD_BIND_ADDRESS": HOST, "XILA_GUARD_SECURE_PORT": "0", "XILA_GUARD_METRICS_BIND_ADDRESS": f"{HOST}:0",
            "XILA_GUARD_TLS_CERT_FILE": str(certificate), "XILA_GUARD_TLS_PRIVATE_KEY_FILE": str(key), "XILA_GUARD_LOG_FORMAT": "text",
            "XILA_GUARD_PROFILES": str(profiles), "XILA_GUARD_POLICY": str(policy), "XILA_GUARD_SHUTDOWN_DELAY": "0s",
            "XILA_GUARD_EXTERNAL_SCHEDULERS": "one,two", "XILA_GUARD_MAX_REQUEST_BYTES": "20000", "XILA_GUARD_LOG_LEVEL": "debug"})
        guard.command = [guard.command[0], "webhook", "--log-format", "json"]
        with guard:
            for scheduler in ("one", "two", "volcano"):
                self.assertTrue(guard.post(review(schedulerName=scheduler)).allowed)
            self.assertFalse(guard.post(review(schedulerName="three")).allowed)
            guard.wait_for_log("allowed", count=3)  # debug
            self.assertEqual(guard.post(b" " * 20001).status, 413)

    def test_the_last_of_two_values_counts(self):
        guard = Guard(flags=["--max-request-bytes", "10000", "--max-request-bytes", "20000", "--log-format", "text", "--log-format", "json"])
        with guard:
            self.assertEqual(guard.post(b" " * 15000).status, 400)
            self.assertEqual(guard.post(b" " * 25000).status, 413)

    def test_without_a_plain_listener_reviews_are_answered_all_the_same(self):
        guard = Guard()
        guard.set_flag("--metrics-bind-address", "0")
        self.addCleanup(guard.stop)
        guard.start()
        guard.await_serving()
        self.assertEqual(guard.operations_port, 0)
        self.assertTrue(guard.post(review()).allowed)

    def test_tls_is_1_2_or_newer_and_speaks_http_1_1(self):
        with Guard() as guard:
            for version, is_taken in ((ssl.TLSVersion.TLSv1_1, False), (ssl.TLSVersion.TLSv1_2, True), (ssl.TLSVersion.TLSv1_3, True)):
                context = guard.context()
                context.set_ciphers("ALL:@SECLEVEL=0")  # or this side would refuse the old version
                with warnings.catch_warnings(action="ignore"):
                    context.minimum_version = context.maximum_version = version
                with self.subTest(version), socket.create_connection((HOST, guard.port)) as plain:
                    if is_taken:
                        context.wrap_socket(plain, server_hostname="localhost").close()
                    else:
                        with self.assertRaises(ssl.SSLError):
                            context.wrap_socket(plain, server_hostname="localhost")
            context = guard.context()
            context.set_alpn_protocols(["h2", "http/1.1"])  # as the API server offers to a URL
            with context.wrap_socket(socket.create_connection((HOST, guard.port)), server_hostname="localhost") as connection:
                self.assertEqual(connection.selected_alpn_protocol(), "http/1.1")

    def test_without_profiles_the_boundary_stands(self):
        guard = Guard()
        for flag in ("--profiles", "--policy"):
            guard.set_flag(flag)
        with guard:
            self.assertEqual(guard.post(crossing_review()).checks, FOUR_CHECKS | {"tenant", "scheduler"})


class Refusal(unittest.TestCase):
    def refused(self, flags=None, **options):
        """Starts a server that must end by itself with code 1, and returns what it said. `flags` replace the usual ones."""
        guard = Guard(**options)
        for flag, value in (flags or {}).items():
            guard.set_flag(flag, value)
        self.addCleanup(guard.stop)
        guard.start()
        self.assertEqual(guard.wait(), 1, guard.tail())
        self.assertEqual(guard.logged("serving"), [])
        return "\n".join(map(str, guard.lines))

    def test_a_file_that_is_wrong_ends_the_start_with_its_place(self):
        cases = {
            "broken YAML": (dict(profiles=BROKEN.read_text()), r"profiles\.yaml:\d+:\d+: "),
            "an unknown key": (dict(policy='apiVersion: guard.xila.us/v1alpha1\nkind: GuardPolicy\nexemptions: []\n'),
                               r"policy\.yaml:3:1: exemptions: unknown key, expected one of apiVersion, "),
            "a mode that there is not": (dict(profiles=profiles_text({"name": "volcano", "mode": "permissive"})),
                                         r"profiles\.yaml:\d+:\d+: .*permissive"),
            "no such file": (dict(policy=pathlib.Path("/nonexistent/policy.yaml")),
                             r"^/nonexistent/policy\.yaml: cannot open: No such file or directory$"),
            "a folder": (dict(profiles=pathlib.Path("/tmp")), r"^/tmp: cannot read: Is a directory$"),
            "an empty file": (dict(policy=""), r"policy\.yaml: empty, expected one document"),
        }
        for name, (options, words) in cases.items():
            with self.subTest(name):
                said = self.refused(**options)
                self.assertRegex(said, re.compile(words, re.M))

    def test_all_problems_of_both_files_are_said_at_once(self):
        said = self.refused(profiles=profiles_text({"name": "UPPER"}, {"name": "b", "mode": "none"}), policy="kind: GuardPolicy\n")
        self.assertEqual(len(re.findall(r"profiles\.yaml:\d+:\d+: ", said)), 2, said)
        self.assertIn("policy.yaml", said)

    def test_a_certificate_that_cannot_be_served_ends_the_start(self):
        certificate, key = server_pair()
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        _, strange = Certificates(folder / "ca", "other").issue("strange", "/CN=strange")
        nonsense, encrypted = folder / "nonsense", folder / "encrypted"
        nonsense.write_text("nonsense")
        subprocess.run(["openssl", "ec", "-in", key, "-aes256", "-passout", "pass:x", "-out", encrypted], check=True, capture_output=True)
        for name, pair, words in (
                ("no such file", (folder / "none", key), "none: No such file or directory"),
                ("no PEM", (nonsense, key), "certificate: no start line"),
                ("another's key", (certificate, strange), "private key: key values mismatch"),
                ("an encrypted key", (certificate, encrypted), "expected the certificate's own key as unencrypted PEM")):
            with self.subTest(name):
                said = self.refused(pair=pair)
                self.assertIn("xila-guard: ", said)
                self.assertIn(words, said)

    def test_an_address_that_is_taken_ends_the_start(self):
        with Guard() as guard:
            taken = {"--secure-port": str(guard.port), "--metrics-bind-address": f"{HOST}:{guard.operations_port}"}
            for flag, value in taken.items():
                said = self.refused(flags={flag: value})
                self.assertIn(f"xila-guard: {flag}: cannot listen on {HOST}:{value.split(':')[-1]}: Address already in use", said)
        self.assertIn('"localhost" is not an IP address', self.refused(flags={"--bind-address": "localhost"}))

    def test_an_audit_log_that_cannot_be_opened_ends_the_start(self):
        said = self.refused(env={"XILA_GUARD_AUDIT_LOG": "/nonexistent/audit.jsonl"})
        self.assertIn('--audit-log: cannot open audit log "/nonexistent/audit.jsonl": No such file or directory', said)

    def test_bad_usage_is_code_2_with_words(self):
        certificate, key = server_pair()
        files = ["--tls-cert-file", certificate, "--tls-private-key-file", key]
        for arguments in ([], ["--no-such-flag"], [*files, "--secure-port", "70000"], [*files, "--secure-port", "x"],
                          [*files, "--log-format", "xml"], [*files, "--log-level", "loud"], [*files, "--request-timeout", "soon"],
                          [*files, "--shutdown-delay", "-1s"], [*files, "--max-request-bytes", "-5"], [*files, "extra"],
                          [*files, "--threads", "-1"], [*files, "--threads", "100000"],
                          [*files, "--max-connections", "0"], ["--tls-cert-file", certificate]):
            with self.subTest(arguments[4:] or arguments):
                code, out, error = run_guard("webhook", "--secure-port", "0", "--metrics-bind-address", "0", *arguments)
                self.assertEqual(code, 2, error)
                self.assertEqual(out, "")
                self.assertGreater(len(error), 10)
        code, _, error = run_guard("webhook", *files, env={"XILA_GUARD_SECURE_PORT": "x"})
        self.assertEqual(code, 2, error)


if __name__ == "__main__":
    unittest.main()
