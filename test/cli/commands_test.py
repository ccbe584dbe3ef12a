"""`xila-guard profiles`, `version` and the help of every command."""
import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from command import PROFILES, CommandTest  # noqa: E402


class Profiles(CommandTest):
    def test_lists_them_with_their_verification(self):
        self.write("p.yaml", PROFILES)
        self.expect(("profiles", "p.yaml"), 0, """\
            NAME     SCHEDULER          MODE     ROUTE GUARD  VERIFICATION  SELECTOR
            volcano  volcano            enforce  no           verified      volcano.sh/job-name
            kueue    default-scheduler  warn     no           example       kueue.x-k8s.io/managed=true
                                                                            kueue.x-k8s.io/podset
            """)

    def test_shows_selectors_as_kubectl_takes_them(self):
        self.write("p.yaml", """\
            apiVersion: guard.xila.us/v1alpha1
            kind: OrchestratorProfiles
            profiles:
              - name: x
                schedulerName: x
                workloadSelector:
                  matchExpressions:
                    - {key: a, operator: In, values: [b, c]}
                    - {key: d, operator: NotIn, values: [e]}
                    - {key: f, operator: DoesNotExist}
            """)
        self.expect(("profiles", "p.yaml"), 0, """\
            NAME  SCHEDULER  MODE     ROUTE GUARD  VERIFICATION  SELECTOR
            x     x          enforce  no           example       a in (b,c),d notin (e),!f
            """)

    def test_a_bad_file_is_exit_1_with_every_problem(self):
        self.write("p.yaml", """\
            apiVersion: guard.xila.us/v1alpha1
            kind: OrchestratorProfiles
            profiles:
              - name: x
                schedulerName: ~
                workloadSelector: {matchLabels: {a: yes}}
            """)
        self.expect(("profiles", "p.yaml"), 1, "", """\
            p.yaml:5:20: profiles[0].schedulerName: null, expected a string
            p.yaml:6:41: profiles[0].workloadSelector.matchLabels[a]: yes is a boolean without quotes, expected a string; write "yes"
            """)
        self.expect(("profiles", "missing.yaml"), 1, "", "missing.yaml: cannot open: No such file or directory\n")


class Version(CommandTest):
    def test_says_what_it_was_built_from(self):
        out = self.expect(("version",), 0)
        self.assertRegex(out, r"^xila-guard \d+\.\d+\.\d+\n  commit      ([0-9a-f]{12}(-dirty)?|unknown|\S+)\n  build       \w+, \w+ [\d.]+\n  libraries   Boost ")
        info = json.loads(self.expect(("version", "-o", "json"), 0))
        self.assertEqual({"version", "commit", "buildType", "compiler", "libraries"}, set(info))
        self.assertLessEqual({"Boost", "OpenSSL", "simdjson", "yaml-cpp"}, set(info["libraries"]))
        self.assertEqual(info["version"] + "\n", self.expect(("--version",), 0))


class Help(CommandTest):
    def test_every_command_has_it(self):
        out = self.expect(("--help",), 0)
        commands = re.findall(r"^  (\w+) {2,}\S", out.split("Subcommands:")[1], re.M)
        self.assertLessEqual({"check", "profiles", "version"}, set(commands))
        for command in commands:
            with self.subTest(command=command):
                self.assertIn("XILA_GUARD_LOG_FORMAT", self.expect((command, "--help"), 0))

    def test_it_is_grouped_and_shows_defaults(self):
        out = self.expect(("check", "--help"), 0)
        self.assertIn("\nRules:\n", out)
        self.assertIn("(default text)", out)
        self.assertIn("(default default)", out)


if __name__ == "__main__":
    unittest.main()
