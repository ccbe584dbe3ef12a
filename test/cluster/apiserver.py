"""A real API server for tests: etcd and kube-apiserver on free loopback ports, gone when the test ends.

    with ApiServer() as api:
        api.create_namespace("team-a", labels={"guard.xila.us/tenant": "team-a"})
        print(api.kubectl("get", "ns").stdout)

The binaries (etcd, kube-apiserver, kubectl) come from the folder KUBEBUILDER_ASSETS, envtest's convention.
No controller runs beside them: service accounts are not made by themselves (their admission plugin is off),
and a namespace ends only when `delete_namespace` finalizes it.

usage as a program: apiserver.py [COMMAND ARG...]   runs COMMAND, or waits for Ctrl-C, with KUBECONFIG set
"""
import base64
import http.client
import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading

from support import HOST, Certificates, Process, assets, free_port, wait_until

class ApiServer:
    """etcd and kube-apiserver; a context manager. `flags` are added to kube-apiserver's."""

    def __init__(self, flags=(), folder=None):
        self.bin = assets()
        if not self.bin:
            raise RuntimeError("KUBEBUILDER_ASSETS must name a folder with etcd, kube-apiserver and kubectl")
        self.flags = list(flags)
        self._own_folder = folder is None
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="xila-guard-api-"))
        self.port = free_port()
        self.url = f"https://{HOST}:{self.port}"
        self.kubeconfig = self.folder / "admin.kubeconfig"
        self.etcd = self.server = None
        self._etcd_port = free_port()
        self._local = threading.local()
        self._connections = []

    def __enter__(self):
        try:
            self._make_files()
            self._start_etcd()
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    # Processes

    def start(self):
        """Starts the API server, again after stop(), on the same port, and waits until it is ready."""
        pki = self.folder / "pki"
        self.server = Process([
            self.bin / "kube-apiserver", f"--etcd-servers=http://{HOST}:{self._etcd_port}",
            f"--secure-port={self.port}", f"--bind-address={HOST}", f"--advertise-address={HOST}",
            f"--tls-cert-file={pki}/apiserver.crt", f"--tls-private-key-file={pki}/apiserver.key",
            f"--client-ca-file={pki}/ca.crt", f"--cert-dir={pki}", f"--service-account-key-file={pki}/sa.pub",
            f"--service-account-signing-key-file={pki}/sa.key", "--service-account-issuer=https://kubernetes.default.svc",
            "--service-cluster-ip-range=10.0.0.0/24", "--authorization-mode=RBAC", "--allow-privileged=true",
            "--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none", "--v=1", *self.flags,
        ], self.folder / "apiserver.log")
        wait_until("kube-apiserver is ready", self._ready, 90)

    def stop(self, how=signal.SIGKILL):
        """Ends the API server alone; etcd keeps what it holds."""
        self.server.stop(how)
        self._close_connections()

    def restart(self, how=signal.SIGKILL):
        self.stop(how)
        self.start()

    def close(self):
        self._close_connections()
        for process in (self.server, self.etcd):
            if process:
                process.stop(signal.SIGKILL)
        if self._own_folder and not os.environ.get("XILA_KEEP_TEST_FOLDERS"):
            shutil.rmtree(self.folder, ignore_errors=True)

    # Access

    def kubectl(self, *arguments, check=True, stdin=None, kubeconfig=None):
        """Runs kubectl as the admin (or with another kubeconfig). A failed one raises with its stderr."""
        done = subprocess.run([str(self.bin / "kubectl"), "--kubeconfig", str(kubeconfig or self.kubeconfig),
                               "--cache-dir", str(self.folder / "kubectl-cache"), *map(str, arguments)],
                              input=stdin, capture_output=True, text=True)
        if check and done.returncode:
            raise RuntimeError(f"kubectl {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done

    def request(self, method, path, body=None, content_type="application/json"):
        """(status, decoded answer), as the admin, over this thread's kept connection."""
        for attempt in (0, 1):
            connection = getattr(self._local, "connection", None)
            if connection is None:
                connection = http.client.HTTPSConnection(HOST, self.port, context=self._tls, timeout=30)
                self._local.connection = connection
                self._connections.append(connection)
            try:
                connection.request(method, path, None if body is None else json.dumps(body),
                                   {"Content-Type": content_type, "Accept": "application/json"})
                answer = connection.getresponse()
                text = answer.read()
                break
            except (OSError, http.client.HTTPException):
                self._local.connection = None  # a kept connection that the server ended
                connection.close()
                if attempt:
                    raise
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text.decode(errors="replace")

    def must(self, method, path, body=None, content_type="application/json"):
        """request(), which fails unless the API server took it."""
        status, answer = self.request(method, path, body, content_type)
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status} {answer}")
        return answer

    def make_kubeconfig(self, path, token=None, **cluster):
        """A kubeconfig for `token`, or for the admin; `cluster` overrides the cluster's keys."""
        pki = self.folder / "pki"
        user = {"token": token} if token else {"client-certificate": f"{pki}/admin.crt", "client-key": f"{pki}/admin.key"}
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": self.url, "certificate-authority": f"{pki}/ca.crt"} | cluster}],
            "users": [{"name": "test", "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        }
        path = pathlib.Path(path)
        path.write_text(json.dumps(config))
        return path

    def service_account(self, name, rules, namespace="default"):
        """A kubeconfig of a new service account with a ClusterRole of `rules`."""
        self.must("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": name}})
        rbac = "/apis/rbac.authorization.k8s.io/v1"
        self.must("POST", f"{rbac}/clusterroles", {"metadata": {"name": name}, "rules": rules})
        self.must("POST", f"{rbac}/clusterrolebindings", {
            "metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}]})
        token = self.must("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token",
                          {"spec": {"expirationSeconds": 3600}})["status"]["token"]
        return self.make_kubeconfig(self.folder / f"{name}.kubeconfig", token)

    # Objects

    def create_namespace(self, name, labels=None):
        return self.must("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": labels or {}}})

    def label_namespace(self, name, labels):
        """Sets labels; a value of None takes the label away."""
        return self.must("PATCH", f"/api/v1/namespaces/{name}", {"metadata": {"labels": labels}},
                         "application/merge-patch+json")

    def delete_namespace(self, name):
        """Deletes the namespace and plays the namespace controller, which ends it."""
        self.must("DELETE", f"/api/v1/namespaces/{name}")
        status, namespace = self.request("GET", f"/api/v1/namespaces/{name}")
        if status == 200:
            namespace["spec"]["finalizers"] = []
            self.must("PUT", f"/api/v1/namespaces/{name}/finalize", namespace)
        wait_until(f"namespace {name} is gone", lambda: self.request("GET", f"/api/v1/namespaces/{name}")[0] == 404, 10)

    def validating_webhook(self, name, entries):
        """Creates or replaces a ValidatingWebhookConfiguration; see webhook_entry() for its entries."""
        path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        body = {"metadata": {"name": name}, "webhooks": entries}
        status, old = self.request("GET", f"{path}/{name}")
        if status == 200:
            body["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
            return self.must("PUT", f"{path}/{name}", body)
        return self.must("POST", path, body)

    def seed(self, resource, objects):
        """Writes objects (whole, as JSON) straight into etcd, 100 a transaction: 50,000 in seconds.

        Nothing is validated or defaulted, and no API server need run. `resource` is the folder below /registry.
        """
        puts = []
        for item in objects:
            meta = item["metadata"]
            key = "/".join(filter(None, (resource, meta.get("namespace"), meta["name"])))
            puts.append({"requestPut": {"key": etcd_key(key), "value": encoded(json.dumps(item))}})
            if len(puts) == 100:
                self._etcd("txn", {"success": puts})
                puts = []
        if puts:
            self._etcd("txn", {"success": puts})

    def unseed(self, key):
        """Takes one object out of etcd: "namespaces/team-a"."""
        self._etcd("deleterange", {"key": etcd_key(key)})

    def compact(self):
        """Compacts etcd's history: older resource versions are gone (410) for lists and watches."""
        revision = self._etcd("range", {"key": etcd_key("")})["header"]["revision"]
        self._etcd("compaction", {"revision": revision, "physical": True})

    # Inside

    def _etcd(self, what, body):
        """Etcd's own HTTP gateway."""
        connection = http.client.HTTPConnection(HOST, self._etcd_port, timeout=60)
        try:
            connection.request("POST", f"/v3/kv/{what}", json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise RuntimeError(f"etcd {what}: {answer.status} {text[:300]}")
        return json.loads(text)

    def _close_connections(self):
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        self._local = threading.local()

    def _make_files(self):
        pki = self.folder / "pki"
        authority = Certificates(pki)
        authority.issue("apiserver", "/CN=kube-apiserver", (f"IP:{HOST}", "DNS:localhost", "DNS:kubernetes.default.svc"))
        certificate, key = authority.issue("admin", "/O=system:masters/CN=admin")
        subprocess.run(["openssl", "genrsa", "-out", pki / "sa.key", "2048"], check=True, capture_output=True)
        subprocess.run(["openssl", "rsa", "-in", pki / "sa.key", "-pubout", "-out", pki / "sa.pub"], check=True, capture_output=True)
        self.make_kubeconfig(self.kubeconfig)
        self._tls = ssl.create_default_context(cafile=str(authority.ca))
        self._tls.load_cert_chain(certificate, key)

    def _start_etcd(self):
        client, peer = f"http://{HOST}:{self._etcd_port}", f"http://{HOST}:{free_port()}"
        self.etcd = Process([
            self.bin / "etcd", "--data-dir", self.folder / "etcd", "--unsafe-no-fsync", "--log-level=warn",
            "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
            "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}",
        ], self.folder / "etcd.log")

    def _ready(self):
        for process in (self.etcd, self.server):
            if not process.running():
                raise RuntimeError(f"{process.command[0]} ended at once:\n{process.tail()}")
        try:
            # The default namespace is made by the API server itself, a moment after it is ready.
            return self.request("GET", "/readyz")[0] == 200 and self.request("GET", "/api/v1/namespaces/default")[0] == 200
        except (OSError, http.client.HTTPException):
            return False


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def etcd_key(path):
    return encoded(f"/registry/{path}")


def webhook_entry(name, url, ca_bundle, rules=None, **more):
    """One entry of a ValidatingWebhookConfiguration: Pod CREATE to `url`, fail closed, 5 s."""
    return {
        "name": name, "clientConfig": {"url": url, "caBundle": ca_bundle}, "failurePolicy": "Fail", "timeoutSeconds": 5,
        "sideEffects": "None", "admissionReviewVersions": ["v1"], "matchPolicy": "Equivalent",
        "rules": rules or [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
    } | more


def main():
    with ApiServer() as api:
        environment = os.environ | {"KUBECONFIG": str(api.kubeconfig)}
        if len(sys.argv) > 1:
            return subprocess.run(sys.argv[1:], env=environment).returncode
        print(f"export KUBECONFIG={api.kubeconfig}", flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            return 0


if __name__ == "__main__":
    sys.exit(main())
