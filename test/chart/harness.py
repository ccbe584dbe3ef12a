"""Renders the chart and reads what comes out: parsed documents, or the words of a refusal.

Needs PyYAML and helm: as HELM names it, on PATH, or in the folder KUBEBUILDER_ASSETS. A `helm3` beside it is
used as well, so that what is rendered is the same under Helm 3 and Helm 4.
"""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

try:
    import yaml
except ImportError:
    yaml = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "charts" / "xila-guard"
CASES = ROOT / "test" / "fixtures" / "cases"
PROFILES = sorted(CHART.glob("profiles/*.yaml"))

# The least that is TLS to the chart.
CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg=="
TLS = {"enforcement": {"webhook": {"tls": {"caBundle": CA}}}}


@functools.cache
def helms():
    """The helm binaries to try, newest first; empty where there is none."""
    path = os.pathsep.join(filter(None, (os.environ.get("PATH"), os.environ.get("KUBEBUILDER_ASSETS"))))
    found = (shutil.which(name, path=path) for name in (os.environ.get("HELM") or "helm", "helm3"))
    return [binary for binary in found if binary]


def missing():
    """Why the chart cannot be tested here, or None."""
    if yaml is None:
        return "PyYAML is not installed (Debian: python3-yaml)"
    if not helms():
        return "helm is neither on PATH nor in KUBEBUILDER_ASSETS; set HELM to its path"
    return None


def merged(*values):
    """Values as helm merges them: maps by key, all else by the last."""
    result = {}
    for value in values:
        for key, item in value.items():
            both = isinstance(item, dict) and isinstance(result.get(key), dict)
            result[key] = merged(result[key], item) if both else item
    return result


def profile(name="volcano", **more):
    """An entry of orchestratorIntegrations."""
    selector = {"matchExpressions": [{"key": "volcano.sh/job-name", "operator": "Exists"}]}
    entry = {"name": name, "schedulerName": "volcano", "workloadSelector": selector} | more
    return {key: value for key, value in entry.items() if value is not ...}


def integrated(*profiles, **more):
    """Values with these profiles and TLS."""
    return merged(TLS, {"orchestratorIntegrations": list(profiles)}, more)


class Rendering:
    """What `helm template` made of some values."""

    def __init__(self, text):
        self.text = text
        self.documents = [document for document in yaml.safe_load_all(text) if document]

    def of(self, kind):
        return [document for document in self.documents if document["kind"] == kind]

    def one(self, kind, name=None, component=None):
        """The only one of that kind and name; unless it is asked for, not the observe controller's."""
        found = []
        for document in self.of(kind):
            meta = document["metadata"]
            part = meta.get("labels", {}).get("app.kubernetes.io/component")
            if name in (None, meta["name"]) and (part == component if component else name or part != "observe"):
                found.append(document)
        if len(found) != 1:
            raise AssertionError(f"{len(found)} documents of kind {kind}, name {name}, component {component}")
        return found[0]

    def kinds(self):
        return sorted(document["kind"] for document in self.documents)

    def webhooks(self):
        """Every webhook of every configuration, by name."""
        return {hook["name"]: hook for config in self.of("ValidatingWebhookConfiguration") for hook in config["webhooks"]}

    def server(self):
        """The admission server's container."""
        return self.one("Deployment")["spec"]["template"]["spec"]["containers"][0]

    def mounted(self, file):
        """profiles.yaml or policy.yaml as the server reads it."""
        config = [c for c in self.of("ConfigMap") if file in c["data"]]
        return yaml.safe_load(config[0]["data"][file])


def run_helm(helm, values, files=(), release="demo", namespace="guard", chart=CHART, command="template"):
    """The finished helm process; the same question is asked once."""
    return _run_helm(helm, json.dumps(values), tuple(map(str, files)), release, namespace, str(chart), command)


@functools.cache
def _run_helm(helm, values, files, release, namespace, chart, command):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(values)
        file.flush()
        arguments = [helm, *command.split(), *([release] if release else []), chart]
        for path in files:
            arguments += ["-f", path]
        arguments += ["-f", file.name]
        if namespace:
            arguments += ["-n", namespace]
        return subprocess.run(arguments, capture_output=True, text=True)


class ChartTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        reason = missing()
        if reason:
            raise unittest.SkipTest(reason)

    def render(self, values=None, files=(), **where):
        """The rendering, which has to be the same from every helm but for the order of kinds it does not know."""
        texts = []
        for helm in helms():
            done = run_helm(helm, values or {}, files, **where)
            self.assertEqual(done.returncode, 0, done.stderr)
            texts.append(done.stdout)
        for text in texts[1:]:
            self.assertEqual(sorted(texts[0].split("---\n")), sorted(text.split("---\n")))
        return Rendering(texts[0])

    def refusals(self, values, files=(), **where):
        """The sentences with which rendering is refused; the same from every helm."""
        found = []
        for helm in helms():
            done = run_helm(helm, values, files, **where)
            self.assertNotEqual(done.returncode, 0, "was rendered:\n" + done.stdout)
            head, _, body = done.stderr.partition("refusals.yaml:3:4): ")
            self.assertTrue(body, f"not refused by a sentence: {head}")
            body = body.split("Use --debug flag")[0].strip()
            found.append(body.split("\n\n"))
        for sentences in found[1:]:
            self.assertEqual(found[0], sentences)
        return found[0]

    def schema_error(self, values):
        """What the schema says, of the first helm: each words it its own way."""
        done = run_helm(helms()[0], values)
        self.assertNotEqual(done.returncode, 0, "was rendered:\n" + done.stdout)
        self.assertIn("values don't meet the specifications of the schema", done.stderr)
        return done.stderr

    def notes(self, values=None, release="demo"):
        """NOTES.txt, with its lines joined."""
        done = run_helm(helms()[0], values or {}, release=release, command="install --dry-run=client")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.partition("\nNOTES:\n")[2]
