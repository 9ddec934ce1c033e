"""Reading the API over a real socket: answers are objects, every trouble is a CannotTell."""

import http.server
import json
import socket
import threading

import pytest

from checks.kit.cluster import JOB, Cluster, Kind
from checks.kit.kubeconfig import read_kubeconfig, require_same_cluster
from checks.outcome import CannotTell

FLAVOR = Kind("ResourceFlavor", "resourceflavors", "kueue.x-k8s.io/v1beta2", is_namespaced=False)
JOBS = "/apis/batch/v1/namespaces/team-a/jobs"


class Api(http.server.BaseHTTPRequestHandler):
    """Answers from `pages`: path to (status, body)."""

    pages: dict

    def do_GET(self):
        status, body = self.pages.get(self.path, (404, "{}"))
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *arguments):
        pass


@pytest.fixture
def serve():
    servers = []

    def start(pages):
        handler = type("Handler", (Api,), {"pages": pages})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return server.server_address[1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def kubeconfig(folder, port, name="kubeconfig"):
    file = folder / name
    file.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "lab",
                "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "me"}}],
                "clusters": [{"name": "lab", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
                "users": [{"name": "me", "user": {"token": "t"}}],
            }
        )
    )
    return file


def items(*names):
    return json.dumps({"items": [{"metadata": {"name": name}} for name in names]})


def trouble(call):
    with pytest.raises(CannotTell) as error:
        call()
    assert str(error.value.next_move)
    return str(error.value.what)


def test_lists_are_read_once_until_looked_at_again(serve, tmp_path):
    pages = {JOBS: (200, items("a", "b"))}
    cluster = Cluster(kubeconfig(tmp_path, serve(pages)))
    assert cluster.one(JOB, "b", "team-a") == {"metadata": {"name": "b"}}
    assert cluster.one(JOB, "c", "team-a") is None
    assert cluster.requests == 1
    assert cluster.now > 0
    pages[JOBS] = (200, items("c"))
    cluster.look_again()
    assert cluster.one(JOB, "c", "team-a") is not None
    assert cluster.requests == 2


@pytest.mark.parametrize(
    ("status", "body", "word"),
    [
        (401, "{}", "401"),
        (403, "{}", "403"),
        (429, "{}", "429"),
        (500, "{}", "500"),
        (503, "{}", "503"),
        (200, "no json", "JSON"),
        (200, "[1]", "JSON"),
    ],
)
def test_refusals_and_nonsense(serve, tmp_path, status, body, word):
    cluster = Cluster(kubeconfig(tmp_path, serve({JOBS: (status, body)})))
    assert word in trouble(lambda: cluster.all(JOB, "team-a"))


def test_kinds_that_are_not_served_are_named(serve, tmp_path):
    cluster = Cluster(kubeconfig(tmp_path, serve({FLAVOR.root: (200, '{"resources": []}')})))
    assert "Kueue" in trouble(lambda: cluster.all(FLAVOR))
    assert "Kueue" in trouble(lambda: cluster.require_served(FLAVOR))
    served = json.dumps({"resources": [{"name": "resourceflavors"}]})
    cluster = Cluster(kubeconfig(tmp_path, serve({FLAVOR.root: (200, served)})))
    cluster.require_served(FLAVOR)


def test_a_kind_that_is_being_taken_away(serve, tmp_path):
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    pages = {f"{crds}/resourceflavors.kueue.x-k8s.io": (200, '{"metadata": {}}')}
    cluster = Cluster(kubeconfig(tmp_path, serve(pages)))
    cluster.require_kind_stays(FLAVOR)
    cluster.require_kind_stays(JOB)
    assert cluster.requests == 1
    for answer in ((200, '{"metadata": {"deletionTimestamp": "x"}}'), (404, "{}")):
        pages[f"{crds}/resourceflavors.kueue.x-k8s.io"] = answer
        assert "Kueue" in trouble(lambda: cluster.require_kind_stays(FLAVOR))
    pages[f"{crds}/resourceflavors.kueue.x-k8s.io"] = (403, "{}")
    cluster.require_kind_stays(FLAVOR)
    pages[f"{crds}/resourceflavors.kueue.x-k8s.io"] = (500, "{}")
    assert "500" in trouble(lambda: cluster.require_kind_stays(FLAVOR))


def test_an_object_that_is_no_list_says_nothing_about_absence(serve, tmp_path):
    pages = {JOBS: (200, '{"kind": "Status"}')}
    cluster = Cluster(kubeconfig(tmp_path, serve(pages)))
    assert "no list for jobs" in trouble(lambda: cluster.one(JOB, "train-1", "team-a"))
    pages[JOBS] = (200, '{"items": null}')
    assert cluster.one(JOB, "train-1", "team-a") is None


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ((200, '{"components": {"schemas": {"x.Job": {}}}}'), ["x.Job"]),
        ((200, '{"components": {"schemas": []}}'), []),
        ((200, '{"components": 1}'), []),
        ((200, "no JSON"), []),
        ((403, ""), []),
        ((500, ""), []),
    ],
)
def test_schemas_that_cannot_be_had_are_none(serve, tmp_path, page, names):
    cluster = Cluster(kubeconfig(tmp_path, serve({"/openapi/v3/apis/batch/v1": page})))
    assert list(cluster.schemas(JOB)) == names


def test_nobody_listens(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    cluster = Cluster(kubeconfig(tmp_path, port))
    assert "refused" in trouble(lambda: cluster.all(JOB))


def test_a_server_that_is_silent_is_asked_once(tmp_path, monkeypatch):
    monkeypatch.setattr("checks.kit.cluster._TIMEOUTS", (0.3, 0.3))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        cluster = Cluster(kubeconfig(tmp_path, silent.getsockname()[1]))
        assert "no answer" in trouble(lambda: cluster.all(JOB))
        trouble(lambda: cluster.all(JOB))
    assert cluster.requests == 1


@pytest.mark.parametrize(
    "text",
    [
        "clusters: [\n",
        "",
        "[]",
        "kind: Config\n",
        "current-context: x\ncontexts: [{name: x, context: {cluster: y}}]\n",
        "current-context: x\ncontexts: 3\nclusters: {}\n",
    ],
)
def test_a_kubeconfig_of_no_use_is_named(tmp_path, text):
    file = tmp_path / "kubeconfig"
    file.write_text(text)
    assert str(file) in trouble(lambda: read_kubeconfig(file))
    assert "kubeconfig" in trouble(lambda: Cluster(file).all(JOB))


def test_a_kubeconfig_that_is_gone_or_binary(tmp_path):
    assert "no such file" in trouble(lambda: read_kubeconfig(tmp_path / "no"))
    (tmp_path / "b").write_bytes(b"\xff\xfe")
    assert "kubeconfig" in trouble(lambda: read_kubeconfig(tmp_path / "b"))


def test_both_kubeconfigs_must_name_one_cluster(tmp_path):
    one, same, other = (
        kubeconfig(tmp_path, port, name) for port, name in ((1, "a"), (1, "b"), (2, "c"))
    )
    require_same_cluster(one, same)
    assert "127.0.0.1:2" in trouble(lambda: require_same_cluster(other, one))
