"""Runs the built xila-guard in a folder of its own and compares what it prints, whole."""
import os
import pathlib
import subprocess
import tempfile
import textwrap
import unittest

PROGRAM = os.environ["XILA_GUARD"]

PROFILES = """\
    apiVersion: guard.xila.us/v1alpha1
    kind: OrchestratorProfiles
    profiles:
      - name: volcano
        schedulerName: volcano
        workloadSelector:
          matchExpressions: [{key: volcano.sh/job-name, operator: Exists}]
        verification: verified
      - name: kueue
        schedulerName: ""
        workloadSelectors:
          - matchLabels: {kueue.x-k8s.io/managed: "true"}
          - matchExpressions: [{key: kueue.x-k8s.io/podset, operator: Exists}]
        mode: warn
    """
POLICY = """\
    apiVersion: guard.xila.us/v1alpha1
    kind: GuardPolicy
    tenants:
      namespaces: {team-a: alpha}
    trustedDaemonSetServiceAccounts: [gpu-operator/device-plugin]
    """


class CommandTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(textwrap.dedent(text), encoding="utf-8")
        return name

    def run_program(self, *arguments, stdin="", env=None):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("XILA_GUARD")}
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder, input=textwrap.dedent(stdin).encode(),
                              capture_output=True, timeout=60, env={**clean, **(env or {})}, check=False)

    def expect(self, arguments, code, stdout=None, stderr="", stdin="", env=None):
        """Runs it and compares exit code and both outputs; stdout None = not compared. Returns stdout."""
        done = self.run_program(*arguments, stdin=stdin, env=env)
        out = done.stdout.decode(errors="surrogateescape")
        self.assertEqual((done.returncode, textwrap.dedent(stderr)),
                         (code, done.stderr.decode(errors="surrogateescape")), out)
        if stdout is not None:
            self.assertEqual(textwrap.dedent(stdout), out)
        return out
