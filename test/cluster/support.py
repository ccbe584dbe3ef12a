"""What test servers are made of: free ports, patience, throw-away certificates, child processes."""
import base64
import os
import pathlib
import signal
import socket
import subprocess
import time

HOST = "127.0.0.1"


def assets():
    """The folder of the binaries, or None where the variable is unset or lacks one of them."""
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    names = ("etcd", "kube-apiserver", "kubectl")
    if folder and all(os.access(os.path.join(folder, name), os.X_OK) for name in names):
        return pathlib.Path(folder)
    return None


def free_port():
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def wait_until(what, holds, seconds=60.0, pause=0.05):
    """Returns the first true value of holds(); fails with `what` in the message when time is up."""
    end = time.monotonic() + seconds
    while True:
        value = holds()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(f"after {seconds:.0f} s still not: {what}")
        time.sleep(pause)


class Certificates:
    """A throw-away CA in `folder`, and what it signs."""

    def __init__(self, folder, name="xila-guard-test-ca"):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.ca = self.folder / "ca.crt"
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                      "-keyout", self.folder / "ca.key", "-out", self.ca, "-subj", f"/CN={name}",
                      "-addext", "keyUsage=critical,keyCertSign,digitalSignature")

    def issue(self, name, subject, names=()):
        """(certificate, key) for `subject`; `names` as IP:127.0.0.1 or DNS:localhost."""
        key, request, certificate = (self.folder / f"{name}.{kind}" for kind in ("key", "csr", "crt"))
        extensions = self.folder / f"{name}.ext"
        extensions.write_text("keyUsage=digitalSignature\nextendedKeyUsage=serverAuth,clientAuth\n" +
                              (f"subjectAltName={','.join(names)}\n" if names else ""))
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                      "-out", request, "-subj", subject)
        self._openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.folder / "ca.key",
                      "-CAcreateserial", "-days", "30", "-out", certificate, "-extfile", extensions)
        return certificate, key

    def ca_bundle(self):
        """The CA as a webhook configuration's caBundle wants it."""
        return base64.b64encode(self.ca.read_bytes()).decode()

    @staticmethod
    def _openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


class Process:
    """A child with its output in a file; stopped by its own id."""

    def __init__(self, command, log, env=None):
        self.command = [str(part) for part in command]
        self.log = pathlib.Path(log)
        with self.log.open("ab") as output:
            self.child = subprocess.Popen(self.command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, env=env)

    def running(self):
        return self.child.poll() is None

    def stop(self, how=signal.SIGTERM, seconds=10.0):
        if self.running():
            self.child.send_signal(how)
            try:
                self.child.wait(seconds)
            except subprocess.TimeoutExpired:
                self.child.kill()
        return self.child.wait()

    def tail(self, lines=20):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
