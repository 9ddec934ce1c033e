"""Preparing a cluster, against an API that is a dictionary behind a real HTTP server."""

from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from provision.errors import TargetError, TimedOut
from provision.local import definitions
from provision.local.api import Api, make_pool, object_path, why_not_ready
from provision.local.definitions import DefinitionWait
from provision.local.laying_out import lay_late
from provision.local.plan import Probe
from provision.local.preparing import Preparation

SPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}}
GROUP = "/apis/kueue.x-k8s.io/v1beta2"
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "workloads.kueue.x-k8s.io"},
    "spec": {
        "group": "kueue.x-k8s.io",
        "names": {"plural": "workloads"},
        "versions": [{"name": "v1beta1", "served": False}, {"name": "v1beta2", "served": True}],
    },
}


class FakeApi(http.server.ThreadingHTTPServer):
    """Keeps objects by path; serves a CRD's resources only once it was annotated, if told so."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.objects: dict[str, Any] = {"/api/v1/namespaces/kube-system": {}}
        self.patched: list[str] = []
        self.needs_waking = False
        self.refuses = False
        self.troubles: list[int] = []


class Handler(http.server.BaseHTTPRequestHandler):
    server: FakeApi

    def do_GET(self) -> None:
        if self.path == GROUP:
            crd = self.server.objects.get(object_path(CRD))
            is_awake = crd and ("annotations" in crd["metadata"] or not self.server.needs_waking)
            resources = [
                {"name": "workloads", "kind": "Workload", "namespaced": True},
                {"name": "workloads/status", "kind": "Workload", "namespaced": True},
            ]
            self._answer(200, {"resources": resources if is_awake else []})
        elif self.path in self.server.objects:
            self._answer(200, self.server.objects[self.path])
        else:
            self._answer(404, {"message": "not found"})

    def do_PATCH(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = self.path.partition("?")[0]
        if self.server.refuses:
            self._answer(422, {"message": "spec.x: Invalid value"})
            return
        if self.server.troubles:
            trouble = self.server.troubles.pop()
            self._answer(trouble, {"message": "failed calling webhook"})
            return
        self.server.patched.append(path)
        if "merge-patch" in self.headers["Content-Type"]:
            self.server.objects[path]["metadata"] |= body["metadata"]
        else:
            is_new = path not in self.server.objects
            self.server.objects[path] = body
            self._answer(201 if is_new else 200, {})
            return
        self._answer(200, {})

    def _answer(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[FakeApi]:
    with FakeApi() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def api(server: FakeApi) -> Iterator[Api]:
    with Api(Probe(f"http://127.0.0.1:{server.server_port}/readyz")) as api:
        yield api


def prepare(api: Api, *documents: dict[str, Any]) -> int:
    work = Preparation(api)
    work.apply(documents)
    work.finish()
    return work.applied


def test_second_preparation_applies_nothing(server: FakeApi, api: Api):
    assert prepare(api, SPACE, CRD) == 2
    server.patched.clear()
    assert prepare(api, SPACE, CRD) == 0
    assert not server.patched


def test_only_what_changed_is_applied(server: FakeApi, api: Api):
    prepare(api, SPACE, CRD)
    server.patched.clear()
    labelled = {**SPACE, "metadata": {"name": "team-a", "labels": {"a": "b"}}}
    assert prepare(api, labelled, CRD) == 1
    assert object_path(SPACE) in server.patched


def test_broken_off_preparation_is_done_again(server: FakeApi, api: Api):
    Preparation(api).apply([SPACE])
    assert prepare(api, SPACE) == 1


RECORD = "/api/v1/namespaces/kube-system/configmaps/gpu-queue-lab"


def test_what_is_noted_half_way_is_not_done_again(server: FakeApi, api: Api):
    """Broken off before what comes late: the record has the first half, and old late things."""
    prepare(api, SPACE, CRD)
    half = Preparation(api)
    half.apply([SPACE])
    half.note()
    server.patched.clear()
    assert prepare(api, SPACE, CRD) == 0
    assert not server.patched
    fresh = {**SPACE, "metadata": {"name": "team-b"}}
    begun = Preparation(api)
    begun.apply([fresh])
    begun.note()
    assert len(server.objects[RECORD]["data"]) == 3
    server.patched.clear()
    assert prepare(api, fresh) == 0
    assert server.patched == [RECORD]
    assert list(server.objects[RECORD]["data"]) == ["Namespace_team-b"]


def test_refusal_names_object_and_reason(server: FakeApi, api: Api):
    server.refuses = True
    with pytest.raises(
        TargetError, match=r"refused Namespace team-a with 422: spec\.x: Invalid value"
    ):
        Preparation(api).apply([SPACE])


WORKLOAD = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "Workload",
    "metadata": {"name": "w", "namespace": "team-a"},
}


def test_where_a_kind_is_kept_is_asked(server: FakeApi, api: Api):
    prepare(api, CRD)
    prepare(api, CRD, WORKLOAD)
    assert f"{GROUP}/namespaces/team-a/workloads/w" in server.patched
    with pytest.raises(TargetError, match="Workload w names no namespace"):
        prepare(api, {**WORKLOAD, "metadata": {"name": "w"}})
    with pytest.raises(TargetError, match="no rule for preparing a Other"):
        prepare(api, {**WORKLOAD, "kind": "Other"})


def test_late_objects_wait_for_a_webhook_that_is_not_there_yet(server: FakeApi, api: Api):
    work = Preparation(api)
    work.apply([SPACE])
    server.troubles = [500, 503]
    lay_late(work, [CRD])
    assert not server.troubles
    assert object_path(CRD) in server.patched
    server.patched.clear()
    again = Preparation(api)
    again.apply([SPACE])
    lay_late(again, [CRD])
    assert not server.patched


def test_late_object_that_is_wrong_is_no_reason_to_wait(server: FakeApi, api: Api):
    server.refuses = True
    started = time.monotonic()
    with pytest.raises(TargetError, match="refused CustomResourceDefinition"):
        lay_late(Preparation(api), [CRD])
    assert time.monotonic() - started < 5


def test_definition_is_waited_for(api: Api):
    with pytest.raises(TimedOut, match="does not serve workloads yet"):
        DefinitionWait(api, [CRD]).run(within=0.1)
    prepare(api, CRD)
    DefinitionWait(api, [CRD]).run(within=5)


def test_definition_that_is_late_is_woken(
    server: FakeApi, api: Api, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(definitions, "WAKE_AFTER", 0.2)
    server.needs_waking = True
    prepare(api, CRD)
    DefinitionWait(api, [CRD]).run(within=5)


def test_definition_that_was_just_made_is_left_alone(
    server: FakeApi, api: Api, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(definitions, "WAKE_AFTER", 0.1)
    server.needs_waking = True
    work = Preparation(api)
    work.apply([CRD])
    assert work.made == {object_path(CRD)}
    with pytest.raises(TimedOut):
        DefinitionWait(api, [CRD], work.made).run(within=0.5)
    assert server.patched == [object_path(CRD)]
    again = Preparation(api)
    again.apply([CRD])
    assert not again.made
    DefinitionWait(api, [CRD], again.made).run(within=5)


def test_server_that_is_gone_is_said():
    with Api(Probe("http://127.0.0.1:9/readyz")) as api, pytest.raises(TargetError) as caught:
        api.get("/api")
    assert "The API server does not answer" in str(caught.value.what)
    assert "make status" in str(caught.value.next_move)


def test_probe_tells_what_is_wrong(server: FakeApi, tmp_path: Path):
    server.objects["/good"] = {}
    base = f"http://127.0.0.1:{server.server_port}"
    for url, words in (
        (f"{base}/good", None),
        (f"{base}/bad", "is not ready: HTTP 404"),
        ("http://127.0.0.1:9/x", "does not answer"),
    ):
        with make_pool(Probe(url)) as pool:
            reason = why_not_ready(pool, Probe(url))
        assert (reason is None) if words is None else words in str(reason)
