"""The default release: nothing is guarded, and the gate's templates leave no trace."""
import pathlib
import shutil
import tempfile

from harness import CHART, ChartTest, profile

GOLDEN = pathlib.Path(__file__).parent / "golden" / "default.yaml"
GATE = ("templates/integrations", "templates/tests")


class Default(ChartTest):
    def test_is_what_the_golden_file_says(self):
        # After a wanted change: helm template xila-guard charts/xila-guard -n xila-guard > test/chart/golden/default.yaml
        text = self.render(release="xila-guard", namespace="xila-guard").text
        self.assertEqual(GOLDEN.read_text(), text)

    def test_is_byte_for_byte_the_chart_without_the_gate(self):
        with tempfile.TemporaryDirectory() as folder:
            bare = pathlib.Path(folder) / "xila-guard"
            shutil.copytree(CHART, bare)
            for path in GATE:
                shutil.rmtree(bare / path)
            self.assertEqual(self.render(chart=bare).text, self.render().text)

    def test_holds_no_webhook_whatever_is_switched_off(self):
        for values in ({}, {"integrations": {"volcano": False}}, {"enforcement": {"webhook": {"replicas": 5}}}):
            with self.subTest(values=values):
                self.assertEqual(self.render(values).of("ValidatingWebhookConfiguration"), [])

    def test_can_be_empty(self):
        self.assertEqual(self.render({"observe": {"enabled": False}}).documents, [])

    def test_notes_say_that_nothing_is_blocked_and_how_to_begin(self):
        notes = self.notes()
        self.assertIn("Nothing is blocked: no orchestrator is integrated.", notes)
        self.assertIn("--set integrations.volcano=true", notes)
        self.assertNotIn("PROTECTED", notes)


class Lint(ChartTest):
    def test_has_nothing_to_say(self):
        from harness import helms, integrated, run_helm
        for helm in helms():
            for values in ({}, integrated(profile())):
                done = run_helm(helm, values, release=None, namespace=None, command="lint --strict")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertNotIn("[WARNING]", done.stdout)
