"""What a profile becomes: a webhook configuration, a profile of the mounted file, an accepted scheduler."""
from harness import CA, CASES, ChartTest, TLS, integrated, merged, profile

EXCLUDED = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["guard", "kube-system"]}
CREATE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"], "scope": "Namespaced"}
DEBUG = CREATE | {"operations": ["UPDATE"], "resources": ["pods/ephemeralcontainers"]}
UPDATE = CREATE | {"operations": ["UPDATE"], "resources": ["pods", "pods/ephemeralcontainers"]}
JOB = {"matchExpressions": [{"key": "volcano.sh/job-name", "operator": "Exists"}]}


class Profile(ChartTest):
    def test_becomes_one_configuration(self):
        config = self.render(integrated(profile())).one("ValidatingWebhookConfiguration")
        self.assertEqual(config["metadata"]["name"], "demo-xila-guard-webhook-volcano")
        self.assertEqual(config["webhooks"], [{
            "name": "validate-volcano.guard.xila.us",
            "admissionReviewVersions": ["v1"],
            "clientConfig": {
                "service": {"namespace": "guard", "name": "demo-xila-guard-webhook", "path": "/validate/volcano", "port": 443},
                "caBundle": CA,
            },
            "rules": [CREATE, DEBUG],
            "matchPolicy": "Equivalent",
            "namespaceSelector": {"matchExpressions": [EXCLUDED]},
            "objectSelector": JOB,
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "timeoutSeconds": 5,
        }])

    def test_stands_in_the_mounted_file_with_the_selectors_of_the_webhook(self):
        out = self.render(integrated(profile(mode="warn", routeGuard=True, verification="verified")))
        self.assertEqual(out.mounted("profiles.yaml"), {
            "apiVersion": "guard.xila.us/v1alpha1", "kind": "OrchestratorProfiles",
            "profiles": [{
                "name": "volcano", "schedulerName": "volcano", "workloadSelector": JOB,
                "namespaceSelector": {"matchExpressions": [EXCLUDED]},
                "mode": "warn", "routeGuard": True, "verification": "verified",
            }],
        })

    def test_has_an_entry_for_each_selector(self):
        selectors = [{"matchLabels": {"a": value}} for value in ("1", "2", "3")]
        out = self.render(integrated(profile("kueue", workloadSelector=..., workloadSelectors=selectors)))
        hooks = out.one("ValidatingWebhookConfiguration")["webhooks"]
        self.assertEqual([hook["name"] for hook in hooks],
                         [f"validate-kueue{n}.guard.xila.us" for n in ("", "-2", "-3")])
        self.assertEqual([hook["objectSelector"] for hook in hooks], selectors)
        self.assertEqual({hook["clientConfig"]["service"]["path"] for hook in hooks}, {"/validate/kueue"})
        self.assertEqual(out.mounted("profiles.yaml")["profiles"][0]["workloadSelectors"], selectors)

    def test_with_route_guard_judges_who_names_the_scheduler(self):
        wanted = {"matchExpressions": [{"key": "x", "operator": "Exists"}]}
        out = self.render(integrated(profile(routeGuard=True, labelGuard=True, failurePolicy="Ignore", namespaceSelector=wanted)))
        label, route = out.one("ValidatingWebhookConfiguration")["webhooks"]
        self.assertEqual(route["name"], "route-volcano.guard.xila.us")
        self.assertNotIn("objectSelector", route)
        self.assertEqual(route["matchConditions"], [{
            "name": "names-the-scheduler",
            "expression": 'has(object.spec) && has(object.spec.schedulerName) && object.spec.schedulerName == "volcano"',
        }])
        self.assertNotIn("matchConditions", label)
        different = ("name", "objectSelector", "matchConditions")
        same = lambda hook: {key: value for key, value in hook.items() if key not in different}
        self.assertEqual(same(label), same(route))

    def test_with_label_guard_is_asked_about_updates(self):
        hooks = self.render(integrated(profile(labelGuard=True))).webhooks()
        self.assertEqual(hooks["validate-volcano.guard.xila.us"]["rules"], [CREATE, UPDATE])

    def test_adds_its_scheduler_to_the_accepted_ones(self):
        cases = {
            "the profile's": (integrated(profile()), "volcano"),
            "two profiles' and the user's": (integrated(profile(), profile("kai", schedulerName="kai-scheduler"),
                                                        externalSchedulers=["custom", "volcano"]), "custom,kai-scheduler,volcano"),
            "the empty name": (integrated(profile(schedulerName="")), "default-scheduler"),
            "strict": (merged(integrated(profile()), {"enforcement": {"enabled": True}}), "volcano"),
        }
        for name, (values, wanted) in cases.items():
            with self.subTest(name):
                self.assertIn(f"--external-schedulers={wanted}", self.render(values).server()["args"])

    def test_of_the_chart_is_switched_on_by_name_and_changed_in_place(self):
        out = self.render(merged(TLS, {"integrations": {
            "volcano": True, "kueue": False, "jobset": {"schedulerName": "volcano", "routeGuard": True, "mode": "audit"}}}))
        self.assertEqual([hook for hook in sorted(out.webhooks())],
                         ["route-jobset.guard.xila.us", "validate-jobset.guard.xila.us", "validate-volcano.guard.xila.us"])
        profiles = {p["name"]: p for p in out.mounted("profiles.yaml")["profiles"]}
        self.assertEqual(profiles["jobset"]["schedulerName"], "volcano")
        self.assertEqual(profiles["jobset"]["mode"], "audit")


class Namespaces(ChartTest):
    def test_of_the_release_and_the_system_are_added_to_the_users_terms(self):
        wanted = {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "tier", "operator": "In", "values": ["x"]}]}
        for given, rest in (({}, []), (wanted, wanted["matchExpressions"])):
            [hook] = self.render(integrated(profile(namespaceSelector=given))).webhooks().values()
            selector = hook["namespaceSelector"]
            self.assertEqual(selector["matchExpressions"], [*rest, EXCLUDED])
            self.assertEqual(selector.get("matchLabels"), given.get("matchLabels"))

    def test_are_left_out_of_every_entry_there_is(self):
        values = merged(integrated(profile(routeGuard=True, namespaceSelector={})), {
            "integrations": {"kueue": True},
            "policy": {"tenants": {"namespaces": {"ml": "x"}}},
            "enforcement": {"enabled": True, "webhook": {"excludedNamespaces": ["calico-system", "kube-system"]}}})
        hooks = self.render(values).webhooks()
        self.assertEqual(len(hooks), 7)
        for hook in hooks.values():
            self.assertEqual(hook["namespaceSelector"]["matchExpressions"][-1],
                             EXCLUDED | {"values": ["guard", "kube-system", "calico-system"]})

    def test_are_left_out_in_the_case_from_the_field(self):
        out = self.render(files=[CASES / "075-webhook-must-not-block-its-own-pods" / "values.yaml"])
        [hook] = out.webhooks().values()
        self.assertEqual(hook["namespaceSelector"], {"matchExpressions": [EXCLUDED]})
        self.assertGreaterEqual(out.one("Deployment")["spec"]["replicas"], 2)
        self.assertLessEqual(hook["timeoutSeconds"], 10)
        out.one("PodDisruptionBudget")


class Enforcement(ChartTest):
    ON = {"enforcement": {"enabled": True}}
    LABEL = {"key": "guard.xila.us/tenant", "operator": "Exists"}

    def test_judges_every_pod_of_the_tenants(self):
        config = self.render(merged(TLS, self.ON)).one("ValidatingWebhookConfiguration")
        self.assertEqual(config["metadata"]["name"], "demo-xila-guard-webhook-enforcement")
        [hook] = config["webhooks"]
        self.assertEqual(hook["name"], "validate-enforcement.guard.xila.us")
        self.assertEqual(hook["clientConfig"]["service"]["path"], "/validate")
        self.assertEqual(hook["namespaceSelector"], {"matchExpressions": [self.LABEL, EXCLUDED]})
        self.assertNotIn("objectSelector", hook)
        self.assertNotIn("matchConditions", hook)
        self.assertEqual((hook["rules"], hook["failurePolicy"]), ([CREATE, DEBUG], "Fail"))

    def test_finds_tenants_by_name_too(self):
        values = merged(TLS, self.ON, {"policy": {"tenants": {"namespaceLabel": "x/y", "namespaces": {"ml": "a", "123": "b"}}}})
        by_label, by_name = self.render(values).one("ValidatingWebhookConfiguration")["webhooks"]
        self.assertEqual(by_label["namespaceSelector"]["matchExpressions"][0], {"key": "x/y", "operator": "Exists"})
        self.assertEqual(by_name["name"], "validate-enforcement-2.guard.xila.us")
        self.assertEqual(by_name["namespaceSelector"], {"matchExpressions": [
            {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["123", "ml"]}, EXCLUDED]})

    def test_leaves_the_profiles_as_they_are(self):
        hooks = self.render(merged(integrated(profile()), self.ON)).webhooks()
        self.assertEqual(sorted(hooks), ["validate-enforcement.guard.xila.us", "validate-volcano.guard.xila.us"])

    def test_brings_no_scheduler(self):
        deployments = self.render(merged(TLS, self.ON)).of("Deployment")
        self.assertEqual(sorted(d["metadata"]["name"] for d in deployments), ["demo-xila-guard-observe", "demo-xila-guard-webhook"])

    def test_can_be_told_to_ignore_failures(self):
        values = merged(TLS, self.ON, {"enforcement": {"failurePolicy": "Ignore"}})
        [hook] = self.render(values).webhooks().values()
        self.assertEqual(hook["failurePolicy"], "Ignore")


class Rights(ChartTest):
    def test_of_the_server_are_to_read_namespaces(self):
        role = self.render(integrated(profile())).one("ClusterRole", "demo-xila-guard-webhook")
        self.assertEqual(role["rules"], [{"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "list", "watch"]}])
