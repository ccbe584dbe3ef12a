"""The admission server's workload, and every knob on it."""
from harness import CA, ChartTest, PROFILES, TLS, integrated, merged, profile


class Server(ChartTest):
    def with_webhook(self, **webhook):
        return self.render(merged(integrated(profile()), {"enforcement": {"webhook": webhook}}))

    def pod(self, out):
        return out.one("Deployment")["spec"]["template"]["spec"]

    def test_is_all_there_is_in_the_minimal_release(self):
        out = self.render(merged(integrated(profile()), {"observe": {"enabled": False}}))
        self.assertEqual(out.kinds(), sorted([
            "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "ConfigMap", "Deployment", "Service", "PodDisruptionBudget",
            "ResourceQuota", "ValidatingWebhookConfiguration", "ConfigMap", "Pod"]))

    def test_is_started_with_what_is_mounted(self):
        out = self.with_webhook()
        self.assertEqual(out.server()["args"], [
            "webhook", "--secure-port=10250", "--metrics-bind-address=:8080",
            "--tls-cert-file=/etc/xila-guard/tls/tls.crt", "--tls-private-key-file=/etc/xila-guard/tls/tls.key",
            "--profiles=/etc/xila-guard/config/profiles.yaml", "--policy=/etc/xila-guard/config/policy.yaml",
            "--external-schedulers=volcano", "--shutdown-delay=10s", "--threads=2", "--log-format=json", "--log-level=info"])
        self.assertIn({"name": "config", "mountPath": "/etc/xila-guard/config", "readOnly": True}, out.server()["volumeMounts"])

    def test_has_its_port_in_one_place(self):
        out = self.with_webhook(port=9443)
        self.assertIn("--secure-port=9443", out.server()["args"])
        self.assertIn({"name": "https", "containerPort": 9443, "protocol": "TCP"}, out.server()["ports"])
        [https] = [port for port in out.one("Service")["spec"]["ports"] if port["name"] == "https"]
        self.assertEqual((https["port"], https["targetPort"]), (443, "https"))
        self.assertNotIn("10250", out.text)

    def test_passes_pod_security_restricted(self):
        out = self.with_webhook()
        for pod in (self.pod(out), out.one("Pod")["spec"]):
            self.assertEqual(pod["securityContext"], {"runAsNonRoot": True, "runAsUser": 65532, "runAsGroup": 65532,
                                                      "seccompProfile": {"type": "RuntimeDefault"}})
            for container in pod["containers"]:
                self.assertEqual(container["securityContext"], {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                                                "capabilities": {"drop": ["ALL"]}})
            for volume in pod["volumes"]:
                self.assertNotIn("hostPath", volume)

    def test_waits_for_no_scheduler_but_the_default_one_and_takes_no_service_links(self):
        out = self.with_webhook()
        for pod in (self.pod(out), out.one("Pod")["spec"]):
            self.assertEqual(pod["schedulerName"], "default-scheduler")
            self.assertIs(pod["enableServiceLinks"], False)

    def test_is_replaced_without_a_gap(self):
        out = self.with_webhook()
        self.assertEqual(out.one("Deployment")["spec"]["strategy"],
                         {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}})
        self.assertEqual(self.pod(out)["terminationGracePeriodSeconds"], 30)
        self.assertEqual(self.pod(self.with_webhook(shutdownDelaySeconds=30, timeoutSeconds=10))["terminationGracePeriodSeconds"], 55)

    def test_on_the_hosts_network_makes_room_for_itself(self):
        out = self.with_webhook(hostNetwork=True, port=9443)
        self.assertEqual(out.one("Deployment")["spec"]["strategy"]["rollingUpdate"], {"maxUnavailable": 1, "maxSurge": 0})
        self.assertEqual((self.pod(out)["hostNetwork"], self.pod(out)["dnsPolicy"]), (True, "ClusterFirstWithHostNet"))

    def test_is_asked_how_it_is_over_plain_http(self):
        container = self.with_webhook().server()
        for probe, path in (("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
            self.assertEqual(container[probe]["httpGet"], {"path": path, "port": "metrics"})

    def test_restarts_neither_for_a_label_nor_for_a_mode_nor_for_a_tenant(self):
        base = self.render(integrated(profile())).one("Deployment")
        changes = {
            "selector": integrated(profile(workloadSelector={"matchLabels": {"a": "b"}})),
            "mode": integrated(profile(mode="audit")),
            "second profile on the same scheduler": integrated(profile(), profile("other")),
            "policy": integrated(profile(), policy={"tenants": {"namespaces": {"a": "b"}}}),
            "enforcement": merged(integrated(profile()), {"enforcement": {"enabled": True}}),
        }
        for name, values in changes.items():
            with self.subTest(name):
                self.assertEqual(self.render(values).one("Deployment"), base)

    def test_takes_every_knob(self):
        affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["infra"]}]}]}}}
        out = self.with_webhook(
            replicas=3, revisionHistoryLimit=1, priorityClassName="mine", nodeSelector={"a": "1"}, affinity=affinity,
            tolerations=[{"key": "t", "operator": "Exists"}], resources={"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}},
            topologySpreadConstraints=[{"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
            labels={"l": "1"}, annotations={"m": "2"}, podLabels={"n": "3"}, podAnnotations={"o": "4"}, bindAddress="::",
            extraArgs=["--max-request-bytes=1"], extraEnv=[{"name": "X", "value": "1"}],
            extraVolumes=[{"name": "audit", "emptyDir": {}}], extraVolumeMounts=[{"name": "audit", "mountPath": "/audit"}],
            serviceAccount={"create": False, "name": "sa"}, threads=8)
        deployment, pod, container = out.one("Deployment"), self.pod(out), out.server()
        self.assertEqual((deployment["spec"]["replicas"], deployment["spec"]["revisionHistoryLimit"]), (3, 1))
        self.assertEqual((pod["priorityClassName"], pod["nodeSelector"]["a"], pod["affinity"]), ("mine", "1", affinity))
        self.assertEqual(pod["tolerations"], [{"key": "t", "operator": "Exists"}])
        [spread] = pod["topologySpreadConstraints"]
        self.assertEqual((spread["topologyKey"], spread["labelSelector"]["matchLabels"]["app.kubernetes.io/component"]), ("zone", "webhook"))
        self.assertEqual(container["resources"]["requests"]["cpu"], "1")
        self.assertEqual((deployment["metadata"]["labels"]["l"], deployment["metadata"]["annotations"]["m"]), ("1", "2"))
        meta = deployment["spec"]["template"]["metadata"]
        self.assertEqual((meta["labels"]["n"], meta["annotations"]["o"]), ("3", "4"))
        self.assertEqual((container["args"][-1], container["env"]), ("--max-request-bytes=1", [{"name": "X", "value": "1"}]))
        self.assertIn("--bind-address=::", container["args"])
        self.assertIn("--threads=8", container["args"])
        self.assertIn({"name": "audit", "emptyDir": {}}, pod["volumes"])
        self.assertIn({"name": "audit", "mountPath": "/audit"}, container["volumeMounts"])
        self.assertEqual(pod["serviceAccountName"], "sa")
        self.assertEqual(out.one("ClusterRoleBinding", "demo-xila-guard-webhook")["subjects"][0]["name"], "sa")
        self.assertNotIn("sa", [account["metadata"]["name"] for account in out.of("ServiceAccount")])
        self.assertEqual(out.of("ResourceQuota"), [])

    def test_has_a_budget_in_either_way_or_none(self):
        budget = lambda **of: self.with_webhook(podDisruptionBudget=of)
        self.assertEqual(budget().one("PodDisruptionBudget")["spec"]["maxUnavailable"], 1)
        self.assertEqual(budget().one("PodDisruptionBudget")["spec"]["unhealthyPodEvictionPolicy"], "AlwaysAllow")
        spec = budget(minAvailable="50%", maxUnavailable=None).one("PodDisruptionBudget")["spec"]
        self.assertEqual((spec["minAvailable"], "maxUnavailable" in spec), ("50%", False))
        self.assertEqual(budget(minAvailable=0, maxUnavailable=None).one("PodDisruptionBudget")["spec"]["minAvailable"], 0)
        budgets = budget(enabled=False).of("PodDisruptionBudget")
        self.assertEqual([b["metadata"]["name"] for b in budgets], ["demo-xila-guard-observe"])


class Image(ChartTest):
    CASES = {
        "default": ({}, "ghcr.io/xila-guard/xila-guard:0.1.0"),
        "tag": ({"image": {"tag": "dev"}}, "ghcr.io/xila-guard/xila-guard:dev"),
        "digest wins": ({"image": {"tag": "dev", "digest": "sha256:" + "0" * 64}}, "ghcr.io/xila-guard/xila-guard@sha256:" + "0" * 64),
        "global registry": ({"global": {"imageRegistry": "mirror:5000/"}}, "mirror:5000/xila-guard/xila-guard:0.1.0"),
        "registry for a bare name": ({"global": {"imageRegistry": "mirror"}, "image": {"repository": "team/guard"}},
                                     "mirror/team/guard:0.1.0"),
        "own repository": ({"image": {"repository": "localhost:5000/guard", "tag": "1e6"}}, "localhost:5000/guard:1e6"),
    }

    def test_is_that_of_every_container(self):
        for name, (values, image) in self.CASES.items():
            with self.subTest(name):
                out = self.render(merged(integrated(profile()), values))
                self.assertEqual(out.server()["image"], image)
                self.assertEqual(out.one("Pod")["spec"]["containers"][0]["image"], image)

    def test_is_pulled_with_the_secrets_of_both_lists(self):
        out = self.render(integrated(profile(), imagePullSecrets=[{"name": "a"}],
                                     **{"global": {"imagePullSecrets": [{"name": "b"}, {"name": "a"}]}}))
        for pod in (out.one("Deployment")["spec"]["template"]["spec"], out.one("Pod")["spec"]):
            self.assertEqual(pod["imagePullSecrets"], [{"name": "a"}, {"name": "b"}])


class SelfTest(ChartTest):
    def test_is_a_test_hook_that_calls_the_service_by_name(self):
        pod = self.render(integrated(profile())).one("Pod")
        self.assertEqual(pod["metadata"]["annotations"]["helm.sh/hook"], "test")
        self.assertEqual(pod["spec"]["containers"][0]["args"],
                         ["selftest", "--url=https://demo-xila-guard-webhook.guard.svc:443", "--ca-file=/etc/xila-guard/ca/ca.crt"])
        self.assertIs(pod["spec"]["automountServiceAccountToken"], False)

    def test_can_connect_elsewhere(self):
        pod = self.render(integrated(profile(), selftest={"connect": "10.0.0.1:10250"})).one("Pod")
        self.assertIn("--connect=10.0.0.1:10250", pod["spec"]["containers"][0]["args"])

    def test_can_show_a_client_certificate(self):
        pod = self.render(integrated(profile(), selftest={"clientCertSecretName": "mine"})).one("Pod")
        args = pod["spec"]["containers"][0]["args"]
        self.assertEqual(args[-2:], ["--client-cert-file=/etc/xila-guard/client/tls.crt", "--client-key-file=/etc/xila-guard/client/tls.key"])
        self.assertIn({"name": "client", "secret": {"secretName": "mine"}}, pod["spec"]["volumes"])


class Optional(ChartTest):
    def test_network_policy_lets_the_api_server_in_from_anywhere(self):
        policy = self.render(integrated(profile(), networkPolicy={"enabled": True, "metricsFrom": [{"podSelector": {}}]})).one("NetworkPolicy")
        reviews, metrics = policy["spec"]["ingress"]
        self.assertEqual(reviews, {"ports": [{"port": "https", "protocol": "TCP"}]})
        self.assertEqual(metrics, {"ports": [{"port": "metrics", "protocol": "TCP"}], "from": [{"podSelector": {}}]})
        self.assertEqual(policy["spec"]["egress"], [{"ports": [{"port": 443, "protocol": "TCP"}, {"port": 6443, "protocol": "TCP"}]}])

    def test_monitors_and_alerts(self):
        on = {"enabled": True, "labels": {"release": "prometheus"}}
        out = self.render(integrated(profile(), metrics={"serviceMonitor": on | {"interval": "30s"}, "podMonitor": on, "prometheusRule": on}))
        for kind in ("ServiceMonitor", "PodMonitor", "PrometheusRule"):
            self.assertEqual(out.one(kind)["metadata"]["labels"]["release"], "prometheus")
        self.assertEqual(out.one("ServiceMonitor")["spec"]["endpoints"], [{"port": "metrics", "path": "/metrics", "interval": "30s"}])
        self.assertEqual(out.one("PodMonitor")["spec"]["podMetricsEndpoints"], [{"port": "metrics", "path": "/metrics"}])

    def test_alerts_ask_for_metrics_that_exist(self):
        import re
        from harness import ROOT
        known = set(re.findall(r'"(xila_guard_\w+)"', (ROOT / "include/xila/telemetry/metrics.hpp").read_text()))
        [group] = self.render(integrated(profile(), metrics={"prometheusRule": {"enabled": True}})).one("PrometheusRule")["spec"]["groups"]
        asked = set(re.findall(r"xila_guard_\w+", " ".join(rule["expr"] for rule in group["rules"])))
        self.assertTrue(asked)
        self.assertLessEqual(asked, known)

    def test_are_off_by_default(self):
        kinds = set(self.render(integrated(profile())).kinds())
        self.assertFalse(kinds & {"NetworkPolicy", "ServiceMonitor", "PodMonitor", "PrometheusRule"})


class Notes(ChartTest):
    def test_say_what_is_protected_and_what_is_not(self):
        notes = self.notes(merged(integrated(profile()), {"integrations": {"kai": True}}))
        for sentence in (
            "volcano (schedulerName volcano, example): denied, where it carries the label\n",
            "kai (schedulerName kai-scheduler, example): denied, with its label or without\n",
            "- Namespaces guard, kube-system: whoever may create Pods there is not held.\n",
            "- Which node a scheduler picks. An external scheduler places its Pods itself and nobody outside it can\n  hook that choice",
            "Whoever writes a Pod can leave the label out: routeGuard closes\n  that where the orchestrator has a scheduler of its own. "
            "Open for volcano.\n",
            "CHECK: the selectors of volcano, kai are examples.",
            "helm test demo -n guard\n",
            "kubectl delete validatingwebhookconfiguration -l app.kubernetes.io/name=xila-guard,app.kubernetes.io/instance=demo",
        ):
            self.assertIn(sentence, notes)
        self.assertNotIn("WARNING", notes)

    def test_warn_of_what_is_weaker_than_it_looks(self):
        cases = {
            "failurePolicy Ignore (volcano): whenever the server cannot be reached, Pods pass unseen.": integrated(profile(failurePolicy="Ignore")),
            "failurePolicy Ignore (enforcement): ": merged(TLS, {"enforcement": {"enabled": True, "failurePolicy": "Ignore"}}),
            "volcano (audit) lets Pods in. The label of such a profile is a way round the others": integrated(profile(mode="audit")),
            "with fewer than two replicas": merged(integrated(profile()), {"enforcement": {"webhook": {"replicas": 1}}}),
        }
        for sentence, values in cases.items():
            self.assertIn("WARNING: " + sentence, self.notes(values))

    def test_name_the_secret_and_the_host_it_is_for(self):
        notes = self.notes(integrated(profile(), enforcement={"webhook": {"tls": {"caBundle": CA, "secretName": "mine"}}}))
        self.assertIn("the Secret mine must hold tls.crt and tls.key for\ndemo-xila-guard-webhook.guard.svc", notes)

    def test_leave_the_selftest_out_where_only_the_api_server_may_call(self):
        notes = self.notes(integrated(profile(), enforcement={"webhook": {"clientCA": {"configMapName": "x"}}}))
        self.assertNotIn("helm test", notes)
        values = integrated(profile(), enforcement={"webhook": {"clientCA": {"configMapName": "x"}}}, selftest={"clientCertSecretName": "y"})
        self.assertIn("helm test", self.notes(values))


class ShippedProfiles(ChartTest):
    def test_are_used_by_file_and_by_name_alike(self):
        for path in PROFILES:
            with self.subTest(path.stem):
                by_file = self.render(TLS, [path])
                by_name = self.render(merged(TLS, {"integrations": {path.stem: True}}))
                self.assertEqual(by_file.text, by_name.text)

    def test_are_all_at_once(self):
        out = self.render(merged(TLS, {"integrations": {path.stem: True for path in PROFILES}}))
        self.assertEqual(len(out.of("ValidatingWebhookConfiguration")), len(PROFILES))
