"""`xila-guard check`: exit codes, text and the three machine formats."""
import json
import os
import pathlib
import subprocess
import sys
import textwrap
import unittest
import xml.etree.ElementTree as xml

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from command import POLICY, PROFILES, CommandTest  # noqa: E402

TRAIN = textwrap.dedent("""\
    apiVersion: batch.volcano.sh/v1alpha1
    kind: Job
    metadata:
      name: train
      namespace: team-a
    spec:
      schedulerName: volcano
      tasks:
        - replicas: 2
          name: worker
          template:
            spec:
              nodeName: gpu-7
              containers:
                - name: w
                  image: i
                  securityContext:
                    privileged: yes
    """)
GOOD = textwrap.dedent("""\
    apiVersion: v1
    kind: Pod
    metadata: {name: good, namespace: team-a}
    spec:
      schedulerName: volcano
      containers: [{name: c, image: i}]
    """)
WARNED = textwrap.dedent("""\
    apiVersion: v1
    kind: Pod
    metadata: {name: w, namespace: team-a, labels: {kueue.x-k8s.io/managed: "true"}}
    spec:
      hostPID: true
      containers: [{name: c, image: i}]
    """)
TRAIN_LINES = textwrap.dedent("""\
    train.yaml:13:11: denied Pod team-a/train-*: [node-pin] spec.nodeName pins node "gpu-7", leave the choice to the scheduler
    train.yaml:18:17: denied Pod team-a/train-*: [privileged] spec.containers[0] "w" is privileged, remove securityContext.privileged
    """)


class Check(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("profiles.yaml", PROFILES)
        self.write("policy.yaml", POLICY)
        self.rules = ("--profiles", "profiles.yaml", "--policy", "policy.yaml")

    def test_names_every_violation_at_its_place(self):
        self.write("train.yaml", TRAIN)
        self.expect(("check", "train.yaml", *self.rules), 1,
                    TRAIN_LINES + "1 file, 1 Pod: 0 admitted, 0 with warnings, 1 denied\n")

    def test_admits(self):
        self.write("good.yaml", GOOD)
        self.expect(("check", "good.yaml", *self.rules), 0, "1 file, 1 Pod: 1 admitted, 0 with warnings, 0 denied\n")

    def test_a_profile_in_mode_warn_lets_through_and_says_so(self):
        self.write("w.yaml", WARNED)
        self.expect(("check", "w.yaml", *self.rules), 0, """\
            w.yaml:5:3: warning Pod team-a/w: [host-namespace] spec.hostPID shows the Pod the node's processes, remove it (profile kueue is in mode warn)
            1 file, 1 Pod: 0 admitted, 1 with warnings, 0 denied
            """)

    def test_says_when_the_tenant_was_not_judged(self):
        self.write("p.yaml", GOOD.replace("team-a", "elsewhere"))
        arguments = ("check", "p.yaml", "--external-schedulers", "volcano")
        self.expect(arguments, 0, """\
            1 file, 1 Pod: 1 admitted, 0 with warnings, 0 denied
            The tenant of 1 Pod was not judged: give --tenant, or a policy that names the namespace.
            """)
        self.expect((*arguments, "--tenant", "t"), 0, "1 file, 1 Pod: 1 admitted, 0 with warnings, 0 denied\n")

    def test_says_when_no_scheduler_is_accepted(self):
        self.write("p.yaml", GOOD)
        self.expect(("check", "p.yaml", "--policy", "policy.yaml"), 1, """\
            p.yaml:5:3: denied Pod team-a/good: [scheduler] spec.schedulerName "volcano" is not an accepted scheduler, no profile names one, tell the platform team
            1 file, 1 Pod: 0 admitted, 0 with warnings, 1 denied
            No scheduler is accepted: give --profiles or --external-schedulers.
            """)

    def test_reads_stdin_and_names_the_namespace_of_what_names_none(self):
        self.expect(("check", "-", *self.rules, "-n", "team-a"), 1, """\
            stdin:3:26: denied Pod team-a/web-*-*: [host-namespace] spec.hostIPC gives the Pod the node's IPC objects, remove it
            1 file, 1 Pod: 0 admitted, 0 with warnings, 1 denied
            """,
                    stdin="kind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {hostIPC: true, containers: [{name: c}]}}}\n")

    def test_a_trusted_daemon_set_is_exempt(self):
        text = """\
            apiVersion: apps/v1
            kind: DaemonSet
            metadata: {name: plugin, namespace: %s}
            spec:
              template:
                spec:
                  serviceAccountName: device-plugin
                  hostPID: true
                  containers: [{name: c, image: i}]
            """
        self.write("trusted.yaml", text % "gpu-operator")
        self.write("other.yaml", text % "team-a")
        self.expect(("check", "trusted.yaml", *self.rules), 0, "1 file, 1 Pod: 1 admitted, 0 with warnings, 0 denied\n")
        self.expect(("check", "other.yaml", *self.rules), 1)

    def test_judges_a_review_as_the_webhook_would(self):
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": "u", "operation": "UPDATE", "namespace": "team-a", "name": "p", "userInfo": {"username": "x"},
            "resource": {"group": "", "version": "v1", "resource": "pods"}, "subResource": "ephemeralcontainers",
            "object": {"metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": [{"name": "c"}], "ephemeralContainers": [
                {"name": "debug", "securityContext": {"privileged": True}}]}},
            "oldObject": {"metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": [{"name": "c"}]}}}}
        self.write("review.json", json.dumps(review))
        self.expect(("check", "review.json", *self.rules, "-o", "json"), 1)
        done = json.loads(self.run_program("check", "review.json", *self.rules, "-o", "json").stdout)
        self.assertEqual(["privileged"], [v["check"] for v in done["pods"][0]["violations"]])

    def test_walks_folders(self):
        self.write("m/b.yaml", GOOD)
        self.write("m/sub/a.yml", GOOD)
        self.write("m/c.json", "{}")
        self.write("m/.hidden/x.yaml", TRAIN)
        self.write("m/.x.yaml", TRAIN)
        self.write("m/notes.txt", "x: [")
        os.symlink(self.folder / "m", self.folder / "m/sub/loop.yaml")
        self.expect(("check", "m", *self.rules), 0, "3 files, 2 Pods: 2 admitted, 0 with warnings, 0 denied\n")

    def test_what_cannot_be_read_is_exit_2_and_the_rest_is_judged(self):
        self.write("bad.yaml", GOOD + "---\nkind: [\n")
        os.mkdir(self.folder / "empty")
        self.expect(("check", "bad.yaml", "missing.yaml", "empty", *self.rules), 2,
                    "2 files, 1 Pod: 1 admitted, 0 with warnings, 0 denied; 3 problems kept something from being read\n",
                    """\
            bad.yaml:9:1: end of sequence flow not found
            missing.yaml: cannot open: No such file or directory
            empty: no *.yaml, *.yml or *.json in this folder
            """)

    def test_external_schedulers_are_a_list_that_takes_no_file_names(self):
        self.write("good.yaml", GOOD)
        for flags, code in ((("--external-schedulers", "volcano", "good.yaml"), 0),
                            (("good.yaml", "--external-schedulers", "other,volcano"), 0),
                            (("good.yaml", "--external-schedulers=a", "--external-schedulers=volcano"), 0),
                            (("good.yaml", "--external-schedulers", "other,"), 1),
                            (("good.yaml", "--external-schedulers", "other, volcano"), 2),
                            (("good.yaml", "--external-schedulers"), 2)):
            with self.subTest(flags=flags):
                self.assertEqual(code, self.run_program("check", "--tenant", "t", *flags).returncode)
        # A comma too many does not accept the default scheduler, whose other name is "".
        self.write("default.yaml", GOOD.replace("volcano", '""'))
        self.assertEqual(1, self.run_program("check", "default.yaml", "--tenant", "t", "--external-schedulers", "a,").returncode)
        self.assertEqual(0, self.run_program("check", "default.yaml", "--tenant", "t", "--external-schedulers", "").returncode)

    def test_bad_usage_is_exit_2(self):
        self.write("good.yaml", GOOD)
        self.write("bad.yaml", "a: b\n")
        for arguments in (("check",), ("check", "good.yaml", "-o", "xml"), ("check", "good.yaml", "--unknown"),
                          ("check", "good.yaml", "--profiles", "missing.yaml"), ("check", "good.yaml", "--policy", "bad.yaml"),
                          ("check", "good.yaml", "--tenant", "a b"), ("check", "good.yaml", "-n", "A"), ("nothing",), ()):
            with self.subTest(arguments=arguments):
                done = self.run_program(*arguments)
                self.assertEqual(2, done.returncode, done)
                self.assertTrue(done.stderr or done.stdout)

    def test_a_report_that_cannot_be_written_is_exit_2(self):
        self.write("good.yaml", GOOD)
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([os.environ["XILA_GUARD"], "check", "good.yaml", *self.rules], cwd=self.folder,
                                  stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(2, done.returncode)

    def test_nothing_in_a_manifest_or_a_file_name_can_forge_a_line(self):
        name = "a\nb.yaml: denied\x1b[31m.yaml"
        self.write(name, GOOD.replace("name: good", 'name: "x\\ny: denied \\u202e"').replace("volcano", '"v\\u001b[31m"'))
        for output in ("text", "junit"):
            out = self.run_program("check", name, *self.rules, "-o", output).stdout.decode()
            self.assertNotIn("\x1b", out)
            self.assertNotIn("\u202e", out)
            self.assertFalse([line for line in out.splitlines() if line.startswith(("y:", "b.yaml"))])

    def test_environment_sets_flags(self):
        self.write("train.yaml", TRAIN)
        env = {"XILA_GUARD_PROFILES": "profiles.yaml", "XILA_GUARD_POLICY": "policy.yaml", "XILA_GUARD_OUTPUT": "json"}
        out = self.run_program("check", "train.yaml", env=env).stdout
        self.assertEqual(1, json.loads(out)["summary"]["denied"])
        out = self.run_program("check", "train.yaml", "-o", "text", env=env).stdout
        self.assertIn(b"1 denied", out)


class Formats(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("profiles.yaml", PROFILES)
        self.write("policy.yaml", POLICY)
        self.write("m/train.yaml", TRAIN)
        self.write("m/w.yaml", WARNED)
        self.write("m/a b.yaml", GOOD + "---\nkind: [\n")

    def report(self, output):
        done = self.run_program("check", "m", "--profiles", "profiles.yaml", "--policy", "policy.yaml", "-o", output)
        self.assertEqual(2, done.returncode, done.stderr)
        return done.stdout.decode()

    def test_json(self):
        report = json.loads(self.report("json"))
        self.assertEqual({"schemaVersion", "pods", "problems", "summary"}, set(report))
        self.assertEqual({"files": 3, "pods": 3, "admitted": 1, "warned": 1, "denied": 1, "tenantNotJudged": 0,
                          "exitCode": 2}, report["summary"])
        self.assertEqual([{"file": "m/a b.yaml", "line": 9, "column": 1, "message": "end of sequence flow not found"}],
                         report["problems"])
        self.assertEqual(
            {"file": "m/train.yaml", "line": 11, "column": 7, "object": {"kind": "Job", "name": "train"},
             "namespace": "team-a", "pod": "train-*", "operation": "CREATE", "profile": "enforcement", "mode": "enforce",
             "tenant": "alpha", "tenantJudged": True, "outcome": "denied", "violations": [
                 {"check": "node-pin", "field": "spec.nodeName", "line": 13, "column": 11,
                  "message": 'spec.nodeName pins node "gpu-7", leave the choice to the scheduler'},
                 {"check": "privileged", "field": "spec.containers[0].securityContext.privileged", "line": 18, "column": 17,
                  "message": 'spec.containers[0] "w" is privileged, remove securityContext.privileged'}]},
            {**report["pods"][1], "violations": [{k: v[k] for k in ("check", "field", "line", "column", "message")}
                                                 for v in report["pods"][1]["violations"]]})

    def test_sarif(self):
        report = json.loads(self.report("sarif"))
        self.assertEqual("2.1.0", report["version"])
        run, = report["runs"]
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        self.assertEqual(len(rules), len(set(rules)))
        self.assertLessEqual({"tenant", "scheduler", "node-pin", "privileged", "host-namespace", "host-path", "malformed"}, set(rules))
        for result in run["results"]:
            self.assertEqual(rules[result["ruleIndex"]], result["ruleId"])
        self.assertEqual([("node-pin", "error"), ("privileged", "error"), ("host-namespace", "warning")],
                         [(result["ruleId"], result["level"]) for result in run["results"]])
        place = run["results"][1]["locations"][0]["physicalLocation"]
        self.assertEqual({"artifactLocation": {"uri": "m/train.yaml", "uriBaseId": "%SRCROOT%"},
                          "region": {"startLine": 18, "startColumn": 17}}, place)
        self.assertFalse(run["invocations"][0]["executionSuccessful"])
        notification, = run["invocations"][0]["toolExecutionNotifications"]
        self.assertEqual("m/a%20b.yaml", notification["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])

    def test_sarif_places_of_files_elsewhere_and_of_stdin(self):
        def uri(path, **more):
            out = self.run_program("check", path, "-o", "sarif", **more).stdout
            return json.loads(out)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]

        inside = str(self.folder / "m/train.yaml")
        self.assertEqual({"uri": "m/train.yaml", "uriBaseId": "%SRCROOT%"}, uri("m/../m/./train.yaml"))
        self.assertEqual({"uri": "m/train.yaml", "uriBaseId": "%SRCROOT%"}, uri(os.path.realpath(inside)))
        self.assertEqual({"uri": "stdin"}, uri("-", stdin=TRAIN))
        self.write("m/x.yaml", TRAIN)
        outside = self.folder.parent / (self.folder.name + "-outside.yaml")
        outside.write_text((self.folder / "m/x.yaml").read_text())
        self.addCleanup(outside.unlink)
        self.assertEqual({"uri": "file://" + os.path.realpath(outside)}, uri("../" + outside.name))

    def test_sarif_makes_no_links_of_names(self):
        self.write("p.yaml", TRAIN.replace("gpu-7", '"[x](https://example.com)"').replace("name: train", 'name: "[y](z)"'))
        out = json.loads(self.run_program("check", "p.yaml", "-o", "sarif").stdout)
        for result in out["runs"][0]["results"]:
            self.assertNotIn("](", result["message"]["text"])

    def test_junit(self):
        root = xml.fromstring(self.report("junit"))
        self.assertEqual(("testsuites", "4", "1", "1"), (root.tag, root.get("tests"), root.get("failures"), root.get("errors")))
        cases = {(case.get("file"), case.get("name")): case for case in root.iter("testcase")}
        failure = cases["m/train.yaml", "Pod team-a/train-*"].find("failure")
        self.assertEqual(("node-pin,privileged", "denied"), (failure.get("message"), failure.get("type")))
        self.assertEqual(2, len(failure.text.strip().splitlines()))
        self.assertIsNotNone(cases["m/w.yaml", "Pod team-a/w"].find("system-out"))
        self.assertEqual(0, len(cases["m/a b.yaml", "Pod team-a/good"]))
        self.assertEqual("end of sequence flow not found", cases["m/a b.yaml", "read"].find("error").get("message"))


if __name__ == "__main__":
    unittest.main()
