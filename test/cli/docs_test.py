"""The examples of docs/profiles.md are files that xila-guard takes."""
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from command import CommandTest  # noqa: E402

DOCS = pathlib.Path(__file__).parent.parent.parent / "docs"


class Examples(CommandTest):
    def test_of_both_files_load(self):
        profiles, policy = re.findall(r"```yaml\n(.*?)```", (DOCS / "profiles.md").read_text(encoding="utf-8"), re.S)
        self.write("profiles.yaml", profiles)
        self.write("policy.yaml", policy)
        self.write("nothing.yaml", "kind: ConfigMap\n")
        self.expect(("profiles", "profiles.yaml"), 0)
        self.expect(("check", "nothing.yaml", "--policy", "policy.yaml"), 0)


if __name__ == "__main__":
    unittest.main()
