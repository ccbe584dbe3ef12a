#!/usr/bin/env python3
"""Writes docs/values.md: every value of the chart with its default and what values.schema.json says of it.

usage: render-values-doc.py [--check]     --check: write nothing, fail where the page is not current
"""
import json
import pathlib
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
CHART = ROOT / "charts" / "xila-guard"
PAGE = ROOT / "docs" / "values.md"

HEAD = """# Values of the chart

Written by `scripts/render-values-doc.py` from `charts/xila-guard/values.schema.json` and `values.yaml`; change those.
Unknown keys are refused. [install.md](install.md) tells what to do with them.

| value | default | what it is |
| --- | --- | --- |
"""
PROFILE = """
## An entry of `orchestratorIntegrations`

`integrations` takes the same keys, but for the name, the workload selectors and `verification`, to change a shipped profile.

| key | what it is |
| --- | --- |
"""


def resolved(schema, root):
    for part in schema.get("allOf", []):
        schema = resolved(part, root) | {key: value for key, value in schema.items() if key != "allOf"}
    if "$ref" in schema:
        target = root
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        schema = resolved(target, root) | {key: value for key, value in schema.items() if key != "$ref"}
    return schema


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def shown(value):
    text = json.dumps(value, ensure_ascii=False)
    return f"`{text}`" if len(text) <= 60 else "see `values.yaml`"


def rows(schema, values, root, path=""):
    for key, property in schema["properties"].items():
        property = resolved(property, root)
        here, value = f"{path}{key}", (values or {}).get(key)
        if "description" not in property:
            raise SystemExit(f"values.schema.json: {here} has no description")
        if property.get("properties") and isinstance(value, dict) and value:
            yield from rows(property, value, root, here + ".")
        else:
            yield f"| `{here}` | {shown(value)} | {cell(property['description'])} |\n"


def page():
    schema = json.loads((CHART / "values.schema.json").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    text = HEAD + "".join(rows(schema, values, schema)) + PROFILE
    for key, property in schema["definitions"]["integration"]["properties"].items():
        text += f"| `{key}` | {cell(resolved(property, schema)['description'])} |\n"
    return text


def main():
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text)
        return 0
    if PAGE.exists() and PAGE.read_text() == text:
        return 0
    print("docs/values.md is not current: run scripts/render-values-doc.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
