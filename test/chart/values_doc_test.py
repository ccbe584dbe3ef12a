"""docs/values.md and the schema agree with values.yaml."""
import json
import subprocess
import sys

from harness import CHART, ChartTest, ROOT, yaml


class ValuesPage(ChartTest):
    def test_is_current(self):
        done = subprocess.run([sys.executable, ROOT / "scripts" / "render-values-doc.py", "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


class Schema(ChartTest):
    def test_knows_no_value_that_values_yaml_lacks_and_the_other_way_round(self):
        schema = json.loads((CHART / "values.schema.json").read_text())

        def compare(properties, values, path):
            self.assertEqual(sorted(properties), sorted(values), f"under {path or 'the top'}")
            for key, value in values.items():
                inner = properties[key].get("properties")
                if inner and isinstance(value, dict):
                    compare(inner, value, f"{path}.{key}")

        compare(schema["properties"], yaml.safe_load((CHART / "values.yaml").read_text()), "")

    def test_allows_no_unknown_key_anywhere(self):
        schema = json.loads((CHART / "values.schema.json").read_text())

        def walk(node, path):
            if isinstance(node, dict):
                # `global` is shared with parent charts, which put there what they like.
                if "properties" in node and path != "/properties/global":
                    self.assertIs(node.get("additionalProperties"), False, path)
                for key, value in node.items():
                    walk(value, f"{path}/{key}")
            elif isinstance(node, list):
                for value in node:
                    walk(value, path)

        walk({key: value for key, value in schema.items() if key != "properties"}, "")
        walk(schema["properties"], "/properties")
