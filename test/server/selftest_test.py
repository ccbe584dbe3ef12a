"""xila-guard selftest against the real server, and against servers that answer wrongly."""
import http.server
import json
import ssl
import subprocess
import threading
import unittest

from client import HOST, PATIENCE
from guard import BINARY, Guard, authority, clean_environment, server_pair

NAMES = "node-pin, privileged, host-namespace"


def selftest(*arguments, ca=None):
    done = subprocess.run([BINARY, "selftest", "--ca-file", ca or authority().ca, *map(str, arguments)], text=True,
                          capture_output=True, timeout=PATIENCE, env=clean_environment())
    return done.returncode, done.stdout, done.stderr


class Answering:
    """An HTTPS server that answers every review as `answer(request)` says: a status and a body."""

    def __init__(self, answer):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
                status, body = answer(request)
                text = body.encode() if isinstance(body, str) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

        self.server = http.server.ThreadingHTTPServer((HOST, 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*server_pair())
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))

    def __enter__(self):
        self.thread.start()
        return f"https://{HOST}:{self.server.server_address[1]}"

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def review(request, allowed, checks="", **more):
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1",
            "response": {"uid": request["uid"], "allowed": allowed, "auditAnnotations": {"checks": checks}} | more}


class Selftest(unittest.TestCase):
    maxDiff = None

    def test_a_right_server(self):
        with Guard(policy={"team-a": "team-a"}) as guard:
            url = f"https://{HOST}:{guard.port}"
            for arguments, good in (
                (("--namespace", "team-a", "--scheduler", "volcano"), "allowed"),
                (("--namespace", "team-a"), "denied for scheduler alone, which is right for this Pod: --namespace and "
                                            "--scheduler say what is allowed"),
                ((), "denied for scheduler, tenant alone, which is right for this Pod: --namespace and --scheduler say "
                     "what is allowed"),
            ):
                code, out, err = selftest("--url", f"{url}/validate/volcano", *arguments)
                self.assertEqual((code, err), (0, ""), out)
                lines = out.splitlines()
                self.assertEqual(lines[0], f"ok     good review  {good}")
                self.assertRegex(lines[1], "^ok     bad review   denied for .*host-namespace.*node-pin.*privileged")
                self.assertEqual(lines[2], "ok     deletion     allowed")
            code, out, _ = selftest("--url", url, "--namespace", "team-b", "--scheduler", "volcano")
            self.assertEqual(code, 1)
            self.assertRegex(out, "WRONG  good review  it names tenant: Pod team-b/selftest crosses")
            # Nothing of it counts as a real review.
            self.assertNotIn('dry_run="false"', guard.get("/metrics").body.decode())

    def test_a_profile_that_only_warns_is_right_too(self):
        profiles = """
            apiVersion: guard.xila.us/v1alpha1
            kind: OrchestratorProfiles
            profiles:
              - {name: soft, schedulerName: soft, mode: MODE, workloadSelector: {matchLabels: {a: b}}}
            """.replace("            ", "")
        for mode, word in (("warn", "warned"), ("audit", "audited")):
            with Guard(profiles=profiles.replace("MODE", mode)) as guard:
                code, out, _ = selftest("--url", f"https://{HOST}:{guard.port}/validate/soft", "--namespace", "team-a",
                                        "--scheduler", "soft")
                self.assertEqual(code, 0, out)
                self.assertRegex(out, f"ok     bad review   {word} for .*: the profile's mode denies nothing")

    def test_connects_elsewhere_but_expects_the_name(self):
        with Guard() as guard:
            code, out, _ = selftest("--url", "https://xila-guard.xila-system.svc", "--connect", f"{HOST}:{guard.port}")
            self.assertEqual(code, 0, out)
            code, out, _ = selftest("--url", f"https://{HOST}:{guard.port}", "--server-name", "xila-guard.xila-system.svc")
            self.assertEqual(code, 0, out)
            code, out, _ = selftest("--url", "https://elsewhere.svc", "--connect", f"{HOST}:{guard.port}")
            self.assertEqual((code, out), (1, "WRONG  good review  no TLS with https://elsewhere.svc:443: its certificate "
                                              "is not accepted: hostname mismatch\n"))

    def test_wrong_answers(self):
        cases = {
            "allows all": (lambda r: (200, review(r, True)), "WRONG  bad review   it does not name node-pin: allowed"),
            "denies all": (lambda r: (200, review(r, False, NAMES.replace(" ", ""))),
                           "WRONG  good review  it names host-namespace, node-pin, privileged: "),
            "names too few": (lambda r: (200, review(r, False, "node-pin")), "WRONG  bad review   it does not name privileged: "),
            "another uid": (lambda r: (200, review({"uid": "x"}, True)), "WRONG  good review  it has the uid of another review"),
            "an error": (lambda r: (500, "no\n"), 'WRONG  good review  HTTP 500: "no"'),
            "another document": (lambda r: (200, "[]"), 'WRONG  good review  it is no AdmissionReview v1 with a response: "[]"'),
            "no verdict": (lambda r: (200, review(r, None)), "WRONG  good review  it does not say allowed"),
            "denies deletions": (lambda r: (200, review(r, r["operation"] != "DELETE", NAMES.replace(" ", "") if "nodeName" in str(r) else "",
                                                        status={"message": "kept"})), "WRONG  deletion     denied: kept"),
        }
        for name, (answer, line) in cases.items():
            with self.subTest(name), Answering(answer) as url:
                code, out, _ = selftest("--url", url)
                self.assertEqual(code, 1)
                self.assertIn(line, out.splitlines())

    def test_no_server(self):
        code, out, _ = selftest("--url", f"https://{HOST}:1")
        self.assertEqual((code, out), (1, f"WRONG  good review  cannot connect to https://{HOST}:1: Connection refused\n"))

    def test_bad_usage(self):
        for arguments, error in (
            (("--url", f"http://{HOST}:1"), "xila-guard: --url must begin with https://\n"),
            (("--url", "https://a", "--connect", "b"), 'xila-guard: address "b" has no port\n'),
        ):
            code, _, err = selftest(*arguments)
            self.assertEqual((code, err), (2, error))
        code, _, err = selftest("--url", "https://a", ca="/nowhere")
        self.assertEqual((code, err), (2, "xila-guard: /nowhere: No such file or directory\n"))


if __name__ == "__main__":
    unittest.main()
