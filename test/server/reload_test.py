"""Profiles and policy are followed while the server runs: wholly, atomically, and never to the worse."""
import os
import pathlib
import subprocess
import tempfile
import threading
import unittest

from client import PATIENCE
from guard import Guard, moment, wait_until
from inputs import CASES, policy_text, profiles_text, review

CASE = CASES / "064-configmap-data-symlink-swap"
SUCCESSFUL = "xila_guard_reload_last_successful"
# What the case and the product promise. A test that waits longer says so by failing.
SOON = 10.0


def swap(folder, source="init"):
    """What kubelet does to a mounted ConfigMap."""
    subprocess.run(["sh", CASE / "swap.sh", folder, source if source == "init" else CASE / source], check=True, capture_output=True)


def replace(path, text):
    """A new file under the old name, in one step."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(text)
    os.replace(fresh, path)


class MountedConfigMap(unittest.TestCase):
    """Case 064."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "config"
        swap(self.folder)
        self.guard = self.enterContext(Guard(profiles=self.folder / "profiles.yaml"))
        self.v1 = (CASE / "review-v1.json").read_bytes()
        self.v2 = (CASE / "review-v2.json").read_bytes()

    def verdicts(self):
        return self.guard.post(self.v1).allowed, self.guard.post(self.v2).allowed

    def until(self, verdicts):
        wait_until(f"verdicts {verdicts}", lambda: self.verdicts() == verdicts, SOON, 0.01)

    def test_each_swap_is_followed_and_a_broken_file_changes_nothing(self):
        self.assertEqual(self.verdicts(), (True, False))
        self.assertEqual(self.guard.post(self.v2).checks, {"scheduler"})
        for source, verdicts in 2 * [("v2.yaml", (False, True)), ("v1.yaml", (True, False))]:
            swap(self.folder, source)
            self.until(verdicts)
        self.assertEqual(self.guard.metric("xila_guard_config_generation"), 5)
        self.assertEqual(self.guard.metric("xila_guard_reloads_total", what="config", result="taken_over"), 4)

        swap(self.folder, "v3-broken.yaml")
        refused = self.guard.wait_for_log("config_refused")
        self.assertEqual(refused["level"], "error")
        self.assertRegex(refused["problems"], r"profiles\.yaml:\d+:\d+: ")
        self.guard.wait_for_metric(SUCCESSFUL, lambda value: value == 0, what="config")
        self.assertEqual(self.verdicts(), (True, False))
        self.assertEqual(self.guard.get("/readyz").status, 200)

        swap(self.folder, "v1.yaml")  # the version in force: nothing changes but the word of it
        self.guard.wait_for_metric(SUCCESSFUL, lambda value: value == 1, what="config")
        self.assertEqual(self.verdicts(), (True, False))
        self.assertEqual(len(self.guard.logged("config_refused")), 1)


class Reload(unittest.TestCase):
    def test_a_file_written_in_place_is_followed(self):
        with Guard() as guard:
            self.assertTrue(guard.post(review()).allowed)
            guard.profiles.write_text(profiles_text({"name": "volcano", "schedulerName": "other"}))
            wait_until("a denial", lambda: not guard.post(review()).allowed, SOON, 0.01)

    def test_policy_and_profiles_are_followed(self):
        with Guard() as guard:
            self.assertEqual(guard.post(review(namespace="team-b")).checks, {"tenant"})
            replace(guard.policy, policy_text({"team-a": "team-a", "team-b": "b"}, extraChecks=["host-port"]))
            wait_until("team-b is a tenant", lambda: guard.post(review(namespace="team-b")).allowed, SOON, 0.01)
            with_port = review()
            with_port["request"]["object"]["spec"]["containers"][0]["ports"] = [{"hostPort": 80, "containerPort": 80}]
            self.assertEqual(guard.post(with_port).checks, {"host-port"})

    def test_a_file_that_is_gone_changes_nothing_and_comes_back(self):
        with Guard() as guard:
            text = guard.policy.read_text()
            guard.policy.unlink()
            refused = guard.wait_for_log("config_refused")
            self.assertIn("policy.yaml: cannot open: No such file or directory", refused["problems"])
            self.assertTrue(guard.post(review()).allowed)
            self.assertFalse(guard.post(review(namespace="team-b")).allowed)
            guard.policy.write_text(text)
            guard.wait_for_metric(SUCCESSFUL, lambda value: value == 1, what="config")

    # An empty file says nothing, and a rulebook that says nothing would accept the default scheduler alone.
    def test_an_emptied_file_is_refused(self):
        for name in ("profiles", "policy"):
            with self.subTest(name), Guard() as guard:
                getattr(guard, name).write_text("")
                guard.wait_for_log("config_refused")
                self.assertTrue(guard.post(review()).allowed)

    def test_one_log_line_for_each_problem_not_for_each_try(self):
        with Guard() as guard:
            guard.profiles.write_text("profiles: [")
            guard.wait_for_log("config_refused")
            for _ in range(5):
                os.utime(guard.profiles)  # an event, and another try
                moment(0.2)
            guard.profiles.write_text(profiles_text({"name": "UPPER"}))
            guard.wait_for_log("config_refused", count=2)
            self.assertEqual(len(guard.logged("config_refused")), 2)
            self.assertEqual(guard.metric("xila_guard_reloads_total", what="config", result="refused"), 2)

    def test_sighup_reads_the_files_at_once(self):
        with Guard() as guard:
            guard.policy.write_text(policy_text({"team-b": "b"}))
            guard.process.send_signal(1)
            guard.wait_for_log("config_loaded", count=2)
            self.assertTrue(guard.post(review(namespace="team-b")).allowed)

    # What changes together is seen together: both profiles get another scheduler.
    def test_each_answer_is_wholly_of_the_old_or_wholly_of_the_new_set(self):
        sets = [[{"name": "volcano", "schedulerName": name + "-1"}, {"name": "other", "schedulerName": name + "-2"}]
                for name in ("old", "new")]
        wholes = [f'set one of "{name}-1", "{name}-2"' for name in ("old", "new")]
        with Guard(profiles=profiles_text(*sets[0])) as guard:
            done, mixed, seen = threading.Event(), [], set()

            def ask():
                with guard.client() as client:
                    while not done.is_set():
                        message = client.post(review(schedulerName="none")).message
                        found = [whole for whole in wholes if whole in message]
                        seen.update(found)
                        if len(found) != 1:
                            mixed.append(message)

            clients = [threading.Thread(target=ask) for _ in range(4)]
            for client in clients:
                client.start()
            try:
                for turn in range(1, 9):
                    replace(guard.profiles, profiles_text(*sets[turn % 2]))
                    guard.wait_for_log("config_loaded", count=turn + 1)
            finally:
                done.set()
                for client in clients:
                    client.join(PATIENCE)
            self.assertEqual(mixed[:1], [])
            self.assertEqual(seen, set(wholes))


if __name__ == "__main__":
    unittest.main()
