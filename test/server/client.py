"""An HTTP client for tests, and what it makes of answers."""
import http.client
import json
import re
import ssl
import time

HOST = "127.0.0.1"
# For what happens at once on a quiet machine. Only a failing test waits that long.
PATIENCE = 60.0


class Answer:
    """What came back for a request."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self):
        return self.body.decode()

    @property
    def response(self):
        return json.loads(self.body.decode())["response"]

    @property
    def allowed(self):
        return self.status == 200 and self.response["allowed"]

    @property
    def checks(self):
        """The ids of the checks that a denial names, each once."""
        return {cause["reason"] for cause in self.response.get("status", {}).get("details", {}).get("causes", ())}

    @property
    def message(self):
        return self.response["status"]["message"]

    def __repr__(self):
        return f"HTTP {self.status} {self.body[:1000]!r}"


class Client:
    """One keep-alive connection; it honours `Connection: close` and then begins another with its next request."""

    def __init__(self, port, context=None, timeout=PATIENCE):
        if context:
            self.connection = http.client.HTTPSConnection(HOST, port, context=context, timeout=timeout)
        else:
            self.connection = http.client.HTTPConnection(HOST, port, timeout=timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def request(self, method, path, body=None, headers=None):
        self.connection.request(method, path, body, headers or {})
        answer = self.connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())

    def post(self, body, path="/validate/volcano", content_type="application/json"):
        """Posts a review (bytes, text or an object) as the API server does."""
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        headers = {"Accept": "application/json, */*", "User-Agent": "kube-apiserver-admission"}
        if content_type is not None:
            headers["Content-Type"] = content_type
        return self.request("POST", path + "?timeout=10s", body, headers)

    def socket(self):
        """The connection's socket, opened if need be, for what http.client would not send."""
        if self.connection.sock is None:
            self.connection.connect()
        return self.connection.sock


_SERIES = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')


def parse_metrics(text):
    """Prometheus' text format, strictly: a line that is none of it fails."""
    series = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        match = _SERIES.match(line)
        assert match, f"no series: {line!r}"
        labels, rest = [], match[2] or ""
        while rest:
            label = _LABEL.match(rest)
            assert label, f"no label: {rest!r}"
            labels.append((label[1], label[2]))
            rest = rest[label.end():]
        key = (match[1], tuple(labels))
        assert key not in series, f"twice: {line!r}"
        series[key] = float(match[3])
    return series


def seconds_until_ended(connection, begin):
    """Waits until the server has closed the connection."""
    connection.settimeout(PATIENCE)
    try:
        while connection.recv(4096):
            pass
    except (ConnectionError, ssl.SSLError):
        pass
    return time.monotonic() - begin
