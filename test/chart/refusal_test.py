"""Each refusal, compared whole: these sentences are what a person has to go by."""
from harness import CA, CASES, ChartTest, PROFILES, TLS, integrated, merged, profile

NO_TLS = ('enforcement.webhook.tls.caBundle is empty, and without a CA the API server cannot call the webhook. Either set '
          'enforcement.webhook.certManager.enabled=true (cert-manager must be installed), or make a certificate with '
          'scripts/make-webhook-certs.sh, put it into the Secret "{}" (enforcement.webhook.tls.secretName) and set '
          'enforcement.webhook.tls.caBundle to the base64 of its CA.')
VALUE = ", and a label's value is text. Put it in quotes."
KEY = ' is no label key. Write it as Kubernetes does, "name" or "example.com/name", at most 63 characters after the "/".'


def selecting(**selector):
    return profile(workloadSelector=selector)


def term(**of):
    return selecting(matchExpressions=[{"key": "a", "operator": "In"} | of])


class OfAProfile(ChartTest):
    # What is wrong with the entry -> the sentence, after "orchestratorIntegrations[0]".
    CASES = {
        "capitals": (profile("Bad_Name"), '.name "Bad_Name" cannot be part of an object name. Use lower-case letters, digits '
                     'and "-", with a letter or digit at both ends.'),
        "a dot": (profile("a.b"), '.name "a.b" cannot be part of an object name. Use lower-case letters, digits and "-", with a '
                  'letter or digit at both ends.'),
        "empty name": (profile(""), '.name "" cannot be part of an object name. Use lower-case letters, digits and "-", with a '
                       'letter or digit at both ends.'),
        "line feed in the name": (profile("a\n"), '.name "a\\n" cannot be part of an object name. Use lower-case letters, digits '
                                  'and "-", with a letter or digit at both ends.'),
        "long name": (profile("a" * 64), f'.name "{"a" * 64}" has 64 characters. It becomes part of object names, which allow '
                      '63: shorten it.'),
        "name of the strict posture": (profile("enforcement"), '.name "enforcement" is taken by the webhook of '
                                       'enforcement.enabled. Use another name.'),
        "number as name": (profile(12), '.name is the number 12. Give the profile a name in quotes, such as "volcano".'),
        "no name": (profile(...), '.name is not set. Give the profile a name in quotes, such as "volcano".'),
        "no schedulerName": (profile(schedulerName=...), '.schedulerName is missing. Write the name that the orchestrator\'s '
                             'Pods carry in spec.schedulerName, or "default-scheduler" if it sets none.'),
        "null schedulerName": (profile(schedulerName=None), '.schedulerName is not set. Write the scheduler\'s name in quotes; '
                               '"" stands for default-scheduler.'),
        "boolean schedulerName": (profile(schedulerName=True), ".schedulerName is the boolean true. Write the scheduler's name "
                                  'in quotes; "" stands for default-scheduler.'),
        "two schedulers": (profile(schedulerName="a,b"), '.schedulerName "a,b" is no scheduler\'s name. Use letters, digits, '
                           '"-", "_" and ".", with a letter or digit at both ends; one profile names one scheduler.'),
        "a quote in schedulerName": (profile(schedulerName='a" || true || "'), '.schedulerName "a\\" || true || \\"" is no '
                                     'scheduler\'s name. Use letters, digits, "-", "_" and ".", with a letter or digit at both '
                                     'ends; one profile names one scheduler.'),
        "routeGuard of the empty name": (profile(schedulerName="", routeGuard=True), '.routeGuard cannot guard the route of '
                                         'schedulerName "": every ordinary Pod takes it. Set routeGuard to false; to judge '
                                         'every Pod of the tenants, set enforcement.enabled to true.'),
        "routeGuard of default-scheduler": (profile(schedulerName="default-scheduler", routeGuard=True), '.routeGuard cannot '
                                            'guard the route of schedulerName "default-scheduler": every ordinary Pod takes it. '
                                            'Set routeGuard to false; to judge every Pod of the tenants, set '
                                            'enforcement.enabled to true.'),
        "no selector": (profile(workloadSelector=...), ".workloadSelector is missing. Write the label selector that the "
                        "orchestrator's Pods match, for example {matchExpressions: [{key: volcano.sh/job-name, operator: "
                        "Exists}]}."),
        "both selectors": (profile(workloadSelectors=[{"matchLabels": {"a": "b"}}]), " has both workloadSelector and "
                           "workloadSelectors. Keep workloadSelectors, and put the single selector into it."),
        "no selectors": (profile(workloadSelector=..., workloadSelectors=[]), ".workloadSelectors is empty. List at least one "
                         "label selector."),
        "empty selector": (selecting(), ".workloadSelector is empty and selects every Pod. Name a label of the orchestrator's "
                           "Pods; to judge every Pod of the tenants, set enforcement.enabled to true."),
        "null selector": (profile(workloadSelector=None), ".workloadSelector is empty and selects every Pod. Name a label of the "
                          "orchestrator's Pods; to judge every Pod of the tenants, set enforcement.enabled to true."),
        "one of several empty": (profile(workloadSelector=..., workloadSelectors=[{"matchLabels": {"a": "b"}}, {"matchLabels": {}}]),
                                 ".workloadSelectors[1] is empty and selects every Pod. Name a label of the orchestrator's Pods; "
                                 "to judge every Pod of the tenants, set enforcement.enabled to true."),
        "boolean label value": (selecting(matchLabels={"guard.xila.us/managed": True}),
                                '.workloadSelector.matchLabels["guard.xila.us/managed"] is the boolean true' + VALUE),
        "number as label value": (selecting(matchLabels={"a": 12345678}),
                                  '.workloadSelector.matchLabels["a"] is the number 12345678' + VALUE),
        "null label value": (selecting(matchLabels={"a": None}), '.workloadSelector.matchLabels["a"] is not set' + VALUE),
        "boolean in values": (term(values=["x", False]), ".workloadSelector.matchExpressions[0].values[1] is the boolean false" + VALUE),
        "spaces in a value": (selecting(matchLabels={"a": "b c"}), '.workloadSelector.matchLabels["a"] "b c" is no label value. '
                              'Kubernetes allows at most 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends.'),
        "bad key": (selecting(matchLabels={"a b": "c"}), '.workloadSelector.matchLabels: "a b"' + KEY),
        "key with capitals in its prefix": (term(key="Example.com/a", values=["x"]),
                                            '.workloadSelector.matchExpressions[0].key: "Example.com/a"' + KEY),
        "boolean as key": (term(key=True, values=["x"]), ".workloadSelector.matchExpressions[0].key: the boolean true" + KEY),
        "In without values": (term(), ".workloadSelector.matchExpressions[0].values is empty, and operator In needs at least one "
                              "value. Add one, or use Exists or DoesNotExist."),
        "Exists with values": (term(operator="Exists", values=["x"]), ".workloadSelector.matchExpressions[0].values must be left "
                               "out: operator Exists takes none. To compare values use In or NotIn."),
        "bad namespaceSelector": (profile(namespaceSelector={"matchLabels": {"a": 1}}),
                                  '.namespaceSelector.matchLabels["a"] is the number 1' + VALUE),
    }

    def test_is_one_sentence_for_each_mistake(self):
        for name, (entry, sentence) in self.CASES.items():
            with self.subTest(name):
                self.assertEqual(self.refusals(integrated(entry)), ["orchestratorIntegrations[0]" + sentence])

    def test_names_every_mistake_at_once(self):
        bad = integrated(profile("A", schedulerName="b c"), profile("d", workloadSelector={}))
        self.assertEqual([sentence.split(" ")[0] for sentence in self.refusals(bad)],
                         ["orchestratorIntegrations[0].name", "orchestratorIntegrations[0].schedulerName",
                          "orchestratorIntegrations[1].workloadSelector"])

    def test_of_two_with_one_name(self):
        self.assertEqual(self.refusals(integrated(profile(), profile(schedulerName="other"))),
                         ['orchestratorIntegrations[1]: the name "volcano" is also in orchestratorIntegrations[0]. '
                          'A name stands for one profile: rename or drop one of them.'])

    def test_of_a_name_that_is_in_the_list_and_in_the_map(self):
        self.assertEqual(self.refusals(integrated(profile(), integrations={"volcano": True})),
                         ['integrations.volcano: the name "volcano" is also in orchestratorIntegrations[0]. '
                          'A name stands for one profile: rename or drop one of them.'])

    def test_of_two_profiles_whose_webhooks_would_share_a_name(self):
        two = profile("a", workloadSelector=..., workloadSelectors=[{"matchLabels": {"x": "1"}}, {"matchLabels": {"x": "2"}}])
        self.assertEqual(self.refusals(integrated(two, profile("a-2"))),
                         ['orchestratorIntegrations[1].name: profiles "a" and "a-2" would both have a webhook called '
                          'validate-a-2.guard.xila.us. Rename one of them.'])

    def test_of_a_profile_that_is_not_shipped_lists_those_that_are(self):
        shipped = ", ".join(path.stem for path in PROFILES)
        for wish in (True, False, {"mode": "audit"}):
            self.assertEqual(self.refusals(merged(TLS, {"integrations": {"slurm": wish}})),
                             [f"integrations.slurm: the chart ships no profile of that name. It ships {shipped}; describe any "
                              "other orchestrator in orchestratorIntegrations."])


class OfTls(ChartTest):
    def refused(self, **webhook):
        return self.refusals({"orchestratorIntegrations": [profile()], "enforcement": {"webhook": webhook}})

    def test_none(self):
        self.assertEqual(self.refused(), [NO_TLS.format("demo-xila-guard-webhook-tls")])
        self.assertEqual(self.refused(tls={"secretName": "mine"}), [NO_TLS.format("mine")])
        self.assertEqual(self.refusals({"enforcement": {"enabled": True}}), [NO_TLS.format("demo-xila-guard-webhook-tls")])
        self.assertEqual(self.refusals({"integrations": {"volcano": True}}), [NO_TLS.format("demo-xila-guard-webhook-tls")])

    def test_none_in_the_case_from_the_field(self):
        [sentence] = self.refusals({}, [CASES / "070-helm-upgrade-keeps-ca" / "values-missing-ca.yaml"])
        self.assertEqual(sentence, NO_TLS.format("xila-guard-tls"))

    def test_both(self):
        self.assertEqual(self.refused(tls={"caBundle": CA}, certManager={"enabled": True}),
                         ["enforcement.webhook.tls.caBundle and enforcement.webhook.certManager.enabled=true are two owners of "
                          "one CA. Keep one: with cert-manager leave caBundle empty."])

    def test_pem_instead_of_base64(self):
        self.assertEqual(self.refused(tls={"caBundle": "-----BEGIN CERTIFICATE-----\n"}),
                         ["enforcement.webhook.tls.caBundle is not base64. Set it to the base64 of the CA's PEM file: "
                          "openssl base64 -A -in ca.crt"])

    def test_base64_of_something_else(self):
        for text in ("aGVsbG8=", "aaaaa"):
            self.assertEqual(self.refused(tls={"caBundle": text}),
                             ["enforcement.webhook.tls.caBundle is base64, but of no PEM certificate. Set it to the base64 of "
                              "the CA's PEM file: openssl base64 -A -in ca.crt"])

    def test_a_private_key(self):
        import base64
        pem = "-----BEGIN CERTIFICATE-----\n-----BEGIN EC PRIVATE KEY-----\n"
        self.assertEqual(self.refused(tls={"caBundle": base64.b64encode(pem.encode()).decode()}),
                         ["enforcement.webhook.tls.caBundle holds a private key. It is published to everybody who may read the "
                          "webhook configuration: set it to the CA's certificate only, and replace that key."])


class OfTheRest(ChartTest):
    def refused(self, webhook=None, **more):
        return self.refusals(integrated(profile(), **merged({"enforcement": {"webhook": webhook or {}}}, more)))

    def test_scheduler(self):
        self.assertEqual(self.refusals({"enforcement": {"scheduler": {"enabled": True}}}),
                         ["enforcement.scheduler.enabled: this version has no controlled scheduler yet. Leave it false; "
                          "enforcement.enabled=true enforces the admission boundary without it."])

    def test_host_network_on_the_kubelets_port(self):
        self.assertEqual(self.refused({"hostNetwork": True}),
                         ["enforcement.webhook.hostNetwork=true with port 10250 collides with the kubelet's own port. Set "
                          "enforcement.webhook.port to another one, and let the control plane reach it."])

    def test_one_port_for_two(self):
        self.assertEqual(self.refused({"port": 8080}),
                         ["enforcement.webhook.port and metrics.port are both 8080. Give them different ports."])

    def test_two_client_cas(self):
        self.assertEqual(self.refused({"clientCA": {"configMapName": "a", "secretName": "b"}}),
                         ["enforcement.webhook.clientCA names both a ConfigMap and a Secret. Keep one of configMapName and "
                          "secretName."])

    def test_two_budgets(self):
        self.assertEqual(self.refused({"podDisruptionBudget": {"minAvailable": 1}}),
                         ["enforcement.webhook.podDisruptionBudget has both minAvailable and maxUnavailable, and Kubernetes "
                          "takes one. Set the other to null."])
        self.assertEqual(self.refusals({"observe": {"podDisruptionBudget": {"minAvailable": 1}}}),
                         ["observe.podDisruptionBudget has both minAvailable and maxUnavailable, and Kubernetes takes one. Set the "
                          "other to null."])

    def test_external_schedulers(self):
        self.assertEqual(self.refusals({"externalSchedulers": ["ok", "a b", True]}),
                         ['externalSchedulers[1]: "a b" is no scheduler\'s name. Write one name in quotes for each item; the '
                          'ordinary one is "default-scheduler".',
                          "externalSchedulers[2]: the boolean true is no scheduler's name. Write one name in quotes for each "
                          'item; the ordinary one is "default-scheduler".'])

    def test_release_names_that_no_service_can_have(self):
        for release in ("1st", "a.b"):
            self.assertEqual(self.refusals(integrated(profile()), release=release),
                             [f'The release is called "{release}", and the webhook\'s Service is called after it. A Service\'s '
                              'name begins with a letter and has no ".": install under another release name.'])


class OfTheSchema(ChartTest):
    # Values -> what helm's message has to name.
    CASES = {
        "unknown key at the top": ({"orchestratorIntegration": []}, "orchestratorIntegration"),
        "unknown key in a profile": (integrated(profile(schedulername="x")), "schedulername"),
        "unknown key in a selector": (integrated(profile(workloadSelector={"matchLabel": {}})), "matchLabel"),
        "unknown key below": ({"enforcement": {"webhook": {"replica": 1}}}, "replica"),
        "unknown operator": (integrated(term(operator="in", values=["x"])), "operator"),
        "unknown mode": (integrated(profile(mode="deny")), "mode"),
        "unknown failurePolicy": (integrated(profile(failurePolicy="fail")), "failurePolicy"),
        "replicas in words": ({"enforcement": {"webhook": {"replicas": "two"}}}, "replicas"),
        "no such port": ({"enforcement": {"webhook": {"port": 70000}}}, "port"),
        "slow webhook": ({"enforcement": {"webhook": {"timeoutSeconds": 31}}}, "timeoutSeconds"),
        "digest without its kind": ({"image": {"digest": "abc"}}, "digest"),
        "tenant that is no text": ({"policy": {"tenants": {"namespaces": {"a": True}}}}, "a"),
        "tenant that is no label's value": ({"policy": {"tenants": {"namespaces": {"a": "b c"}}}}, "b c"),
        "namespace that cannot be": ({"policy": {"tenants": {"namespaces": {"A": "b"}}}}, "A"),
        "tenant label with a space": ({"policy": {"tenants": {"namespaceLabel": "a b"}}}, "namespaceLabel"),
        "rule that asks for nothing": ({"policy": {"placement": {"rules": [{"name": "a", "tenants": ["*"]}]}}}, "rules"),
        "rule of nobody": ({"policy": {"placement": {"rules": [{"name": "a", "tenants": [], "exclusive": True}]}}}, "tenants"),
        "unknown extra check": ({"policy": {"extraChecks": ["host-ports"]}}, "extraChecks"),
        "account without its namespace": ({"policy": {"trustedDaemonSetServiceAccounts": ["x"]}}, "trustedDaemonSetServiceAccounts"),
        "name of a shipped profile": ({"integrations": {"volcano": {"name": "x"}}}, "volcano"),
    }

    def test_names_the_value(self):
        for name, (values, word) in self.CASES.items():
            with self.subTest(name):
                self.assertIn(word, self.schema_error(values))
