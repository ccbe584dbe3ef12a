"""The audit log has one line for each decision, as its schema says, and nobody who writes a Pod can break a line."""
import json
import pathlib
import re
import tempfile
import unittest

from client import PATIENCE
from guard import Guard, wait_until
from inputs import FOUR_CHECKS, ROOT, crossing_review, review

SCHEMA = json.loads((ROOT / "docs" / "audit-log.schema.json").read_text())
TYPES = {"string": str, "boolean": bool, "number": (int, float), "array": list, "object": dict, "null": type(None)}
# What breaks lines, terminals and JSON where it is not escaped.
ATTACKS = {
    "a line of one's own": 'x"}\n{"schemaVersion":1,"decision":"allowed"}',
    "a carriage return": "x\rdenied=false",
    "a terminal's escape": "\x1b[2K\x1b]0;owned\x07",
    "quotes and backslashes": '\\"},{"\\\\',
    "other line ends": "a\u2028b\u2029c\x85d",
    "bidirectional controls": "\u202egpj.exe\u202c",
    "NUL": "a\x00b",
    "half a surrogate pair": None,  # as JSON's \ud800, below
}


def problems(value, schema, path="$"):
    """What is wrong with a value by the part of JSON Schema that the file uses."""
    if "const" in schema and value != schema["const"]:
        yield f"{path}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: {value!r} is not one of {schema['enum']}"
    types = schema.get("type")
    if types:
        wanted = [TYPES[name] for name in ([types] if isinstance(types, str) else types)]
        if not any(isinstance(value, kind) for kind in wanted) or (isinstance(value, bool) and "boolean" not in types):
            yield f"{path}: {value!r} is no {types}"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{path}: {value!r} does not match {schema['pattern']}"
    if isinstance(value, dict):
        for key in schema.get("required", ()):
            if key not in value:
                yield f"{path}: lacks {key}"
        for key, part in schema.get("properties", {}).items():
            if key in value:
                yield from problems(value[key], part, f"{path}.{key}")
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from problems(item, schema["items"], f"{path}[{index}]")


class Audit(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.file = self.folder / "audit.jsonl"
        self.guard = self.enterContext(Guard(flags=["--audit-log", self.file]))

    def audited(self, count, file=None):
        """The objects of the file once it has `count` lines."""
        file = file or self.file
        wait_until(f"{count} audit lines", lambda: file.exists() and file.read_bytes().count(b"\n") >= count, PATIENCE, 0.005)
        text = file.read_bytes().decode()  # strict: the log is UTF-8
        self.assertTrue(text.endswith("\n"))
        return [json.loads(line) for line in text.split("\n")[:-1]]

    def test_each_decision_is_a_line_that_the_schema_takes(self):
        update = review("uid-2")
        update["request"] |= {"operation": "UPDATE", "oldObject": update["request"]["object"]}
        delete = review("uid-3")
        delete["request"] |= {"operation": "DELETE", "oldObject": delete["request"]["object"], "object": None}
        wrong_type = review("uid-4", hostNetwork="yes")
        for body in (review("uid-0"), crossing_review("uid-1"), update, delete, wrong_type, review("uid-5", namespace="nobody")):
            self.guard.post(body)
        lines = self.audited(6)
        for line in lines:
            self.assertEqual(list(problems(line, SCHEMA)), [])
        self.assertEqual([(line["uid"], line["decision"], line["allowed"], set(line["checks"])) for line in lines], [
            ("uid-0", "allowed", True, set()), ("uid-1", "denied", False, FOUR_CHECKS), ("uid-2", "allowed", True, set()),
            ("uid-3", "allowed", True, set()), ("uid-4", "malformed", False, {"malformed"}), ("uid-5", "denied", False, {"tenant"})])

    def test_a_denial_is_told_in_full(self):
        body = crossing_review("uid-full")
        body["request"]["dryRun"] = True
        body["request"]["object"]["metadata"] |= {"generateName": "train-", "ownerReferences": [
            {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "1", "controller": True}]}
        answer = self.guard.post(body)
        line, = self.audited(1)
        spec_fields = ["spec.nodeName", "spec.containers[0].securityContext.privileged", "spec.hostNetwork", "spec.volumes[1].hostPath"]
        self.assertEqual({violation["field"] for violation in line["violations"]}, set(spec_fields))
        self.assertRegex(line["peer"], r"^127\.0\.0\.1:\d+$")
        expected = {
            "operation": "CREATE", "resource": "pods", "dryRun": True, "namespace": "team-a", "name": "train-0", "generateName": "train-",
            "owner": {"kind": "Job", "name": "train"}, "user": "alice@example.test", "profile": "volcano", "mode": "enforce",
            "tenant": "team-a", "violationsOmitted": 0, "message": answer.message, "clientVerified": False}
        self.assertEqual({key: line[key] for key in expected}, expected)

    def test_the_log_line_of_a_denial_has_what_one_looks_for(self):
        body = crossing_review("uid-log")
        body["request"]["object"]["metadata"]["ownerReferences"] = [
            {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "1", "controller": True}]
        answer = self.guard.post(body)
        line = self.guard.wait_for_log("denied", uid="uid-log")
        self.assertEqual(set(line["checks"].split(",")), FOUR_CHECKS)
        expected = {"level": "info", "namespace": "team-a", "name": "train-0", "owner": "Job/train", "user": "alice@example.test",
                    "profile": "volcano", "mode": "enforce", "tenant": "team-a", "decision": "denied", "operation": "CREATE",
                    "dry_run": False, "message": answer.message}
        self.assertEqual({key: line[key] for key in expected}, expected)
        self.guard.post(review("uid-fine"))
        self.guard.post(crossing_review("uid-after"))
        self.guard.wait_for_log("denied", uid="uid-after")
        self.assertEqual(len(self.guard.logged("denied")), 2)
        self.assertEqual(self.guard.logged("allowed"), [])  # one line for each denial, none for the rest

    def test_nothing_that_a_tenant_writes_breaks_a_line(self):
        marker = "ATTACK"
        bodies = []
        for text in ATTACKS.values():
            body = crossing_review(f"uid-{len(bodies)}")
            value = marker if text is None else text
            request, pod = body["request"], body["request"]["object"]
            request["name"], request["namespace"], request["userInfo"]["username"] = value, value, value
            pod["metadata"] |= {"name": value, "generateName": value, "labels": {value: value}, "ownerReferences": [
                {"apiVersion": "batch/v1", "kind": value, "name": value, "uid": "1", "controller": True}]}
            pod["spec"] |= {"schedulerName": value, "nodeName": value}
            pod["spec"]["containers"][0]["name"] = value
            bodies.append(json.dumps(body).replace(marker, r"\ud800"))
        for number, body in enumerate(bodies):
            with self.subTest(list(ATTACKS)[number]):
                answer = self.guard.post(body)
                self.assertFalse(answer.allowed)
                if answer.status == 200:
                    self.assertNotRegex(answer.message, r"[\x00-\x1f\x7f\x85\u2028\u2029\u202e]")
        self.guard.post(crossing_review("uid-last"))
        lines = self.audited(1)
        wait_until("the last line", lambda: self.audited(1)[-1]["uid"] == "uid-last", PATIENCE)
        lines = self.audited(1)
        for line in lines:
            self.assertEqual(list(problems(line, SCHEMA)), [])
        raw = self.file.read_bytes().decode()
        self.assertNotRegex(raw.replace("\n", ""), r"[\x00-\x1f\x7f\x85\u2028\u2029\u202e]")
        for number in range(len(bodies) - 1):  # the last of them is no Unicode: a 400 or a line, both are right
            self.assertEqual(sum(line["uid"] == f"uid-{number}" for line in lines), 1)
        self.guard.wait_for_log("denied", uid="uid-last")
        self.assertEqual([line for line in self.guard.lines if isinstance(line, str)], [])  # all JSON

    def test_the_text_form_of_the_log_cannot_be_broken_either(self):
        guard = Guard()
        guard.set_flag("--log-format", "text")
        self.addCleanup(guard.stop)
        guard.start()
        ports = wait_until("serving", lambda: re.search(r"serving port=(\d+) operations_port=(\d+)", guard.tail()), PATIENCE)
        guard.port, guard.operations_port = int(ports[1]), int(ports[2])
        for text in filter(None, ATTACKS.values()):
            body = crossing_review("uid-text", schedulerName=text)
            body["request"]["name"] = body["request"]["userInfo"]["username"] = text
            guard.post(body)
        guard.post(crossing_review("uid-last"))
        wait_until("the last line", lambda: "uid=uid-last" in guard.tail(), PATIENCE)
        for line in guard.lines:
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (info |warn |error) [a-z_]+( [a-z_]+=.*)?$")
            self.assertNotRegex(line, r"[\x00-\x1f\x7f\x85\u2028\u2029\u202e]")

    def test_sighup_begins_a_new_file_and_loses_no_line(self):
        with self.guard.client() as client:
            rotated = []
            for turn in range(3):
                for number in range(20):
                    client.post(review(f"uid-{turn}-{number}"))
                rotated.append(self.folder / f"audit.{turn}")
                self.file.rename(rotated[-1])
                self.guard.process.send_signal(1)
                self.guard.wait_for_log("audit_log_reopened", count=turn + 1)
            client.post(review("uid-end"))
        self.audited(1)
        self.assertEqual(self.guard.stop(), 0)
        uids = [line["uid"] for file in (*rotated, self.file) for line in self.audited(1, file)]
        self.assertEqual(uids, [f"uid-{turn}-{number}" for turn in range(3) for number in range(20)] + ["uid-end"])

    def test_the_end_loses_no_line(self):
        with self.guard.client() as client:
            for number in range(200):
                client.post(review(f"uid-{number}"))
        self.assertEqual(self.guard.stop(), 0)
        self.assertEqual(len(self.audited(200)), 200)

    def test_a_full_disk_is_counted_and_holds_up_no_review(self):
        with Guard(flags=["--audit-log", "/dev/full"]) as guard:
            for number in range(20):
                self.assertTrue(guard.post(review(f"uid-{number}")).allowed)
            guard.wait_for_metric("xila_guard_audit_dropped_total", lambda value: value == 20)
            self.assertEqual(guard.wait_for_log("audit_lines_dropped")["reason"], "No space left on device")

    # The pipe to whoever collects the log is full: denials go on, and what could not be said is counted.
    def test_a_log_that_nobody_reads_holds_up_no_review(self):
        with Guard() as guard, guard.client() as client:
            guard.is_read.clear()
            for _ in range(4000):
                self.assertEqual(client.post(crossing_review()).checks, FOUR_CHECKS)
            self.assertGreater(guard.metric("xila_guard_log_dropped_lines"), 0)
            self.assertEqual(guard.get("/readyz").status, 200)

    def test_what_is_no_review_gets_no_line(self):
        for body in (b"", b"{}", b"[1]", b"\xff\xfe"):
            self.assertEqual(self.guard.post(body).status, 400)
        self.guard.post(review("uid-one"))
        self.assertEqual([line["uid"] for line in self.audited(1)], ["uid-one"])


if __name__ == "__main__":
    unittest.main()
