"""Reading the cluster through an account that cannot write; the only importer of kubernetes.

Whatever keeps the API from answering is a CannotTell, never the learner's mistake. An object is
absent only when a list of its kind was answered; that the kind is served at all is asked first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from checks.kit.kubeconfig import read_kubeconfig
from checks.outcome import CannotTell
from provision.message import Message, say

Object = Mapping[str, object]

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_TIMEOUTS = (2.0, 5.0)  # seconds to connect, seconds to read


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind as the API serves it; `group_version` is "v1" or "group/version"."""

    name: str
    plural: str
    group_version: str
    is_namespaced: bool = True

    @property
    def root(self) -> str:
        """The path of the group and version."""
        prefix = "/apis" if "/" in self.group_version else "/api"
        return f"{prefix}/{self.group_version}"


JOB = Kind("Job", "jobs", "batch/v1")
POD = Kind("Pod", "pods", "v1")
EVENT = Kind("Event", "events", "v1")
NODE = Kind("Node", "nodes", "v1", is_namespaced=False)


class Cluster:
    """GET requests to one API server, counted, each list read once until `look_again`."""

    def __init__(self, kubeconfig: Path) -> None:
        self.requests = 0
        self.now = 0.0
        self._kubeconfig = kubeconfig
        self._client: Any = None  # kubernetes is not typed
        self._lists: dict[tuple[Kind, str], tuple[Object, ...]] = {}
        self._dead: CannotTell | None = None

    def look_again(self) -> None:
        """Forget what was read, so that the next question asks the API server."""
        self._lists.clear()

    def all(self, kind: Kind, namespace: str = "") -> tuple[Object, ...]:
        """The objects of a kind, in one namespace or (empty) everywhere."""
        key = (kind, namespace if kind.is_namespaced else "")
        if key not in self._lists:
            middle = f"/namespaces/{key[1]}" if key[1] else ""
            answer = self._get(f"{kind.root}{middle}/{kind.plural}")
            if answer is None:
                raise _not_served(kind)
            if "items" not in answer:
                raise _no_answer(say("no list for {path}", path=kind.plural))
            items = answer["items"]
            self._lists[key] = tuple(items) if isinstance(items, list) else ()
        return self._lists[key]

    def one(self, kind: Kind, name: str, namespace: str = "") -> Object | None:
        """The object of that name, None when the cluster holds none."""
        for item in self.all(kind, namespace):
            metadata = item.get("metadata")
            if isinstance(metadata, Mapping) and metadata.get("name") == name:
                return item
        return None

    def require_served(self, kind: Kind) -> None:
        """CannotTell when the API server does not serve this kind in this version."""
        answer = self._get(kind.root)
        resources = (answer or {}).get("resources")
        names = [r.get("name") for r in resources] if isinstance(resources, list) else []
        if kind.plural not in names:
            raise _not_served(kind)

    def require_kind_stays(self, kind: Kind) -> None:
        """CannotTell when a custom kind is being taken away, and its objects with it.

        Asked when an object is absent or going. What the account may not read counts as staying.
        """
        group = kind.group_version.partition("/")[0]
        if "." not in group:
            return
        path = f"{_DEFINITIONS}/{kind.plural}.{group}"
        status, body, _ = self._request(path)
        if status == 404 or (status == 200 and b'"deletionTimestamp"' in body):
            raise _not_served(kind)
        if status not in (200, 403):
            raise _refused(self._kubeconfig, status, path)

    def schemas(self, kind: Kind) -> Mapping[str, object]:
        """The schemas that the API server publishes for a kind's group; empty when it does not."""
        status, body, _ = self._request(f"/openapi/v3{kind.root}")
        try:
            found = json.loads(body)["components"]["schemas"] if status == 200 else {}
        except (ValueError, TypeError, LookupError):
            found = {}
        return found if isinstance(found, dict) else {}

    def _get(self, path: str) -> Mapping[str, object] | None:
        """The JSON object of an answer, None for 404; any other trouble is a CannotTell.

        A server that did not answer once is not asked again in this run.
        """
        if self._dead:
            raise self._dead
        try:
            status, body, date = self._request(path)
        except CannotTell as dead:
            self._dead = dead
            raise
        if date:
            self.now = parsedate_to_datetime(date).timestamp()
        if status == 404:
            return None
        if status != 200:
            raise _refused(self._kubeconfig, status, path)
        try:
            answer = json.loads(body)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise _no_answer(say("no JSON object for {path}", path=path))
        return answer

    def _request(self, path: str) -> tuple[int, bytes, str]:
        from kubernetes.client.exceptions import ApiException
        from urllib3.exceptions import HTTPError

        client = self._client or self._connect()
        self.requests += 1
        try:
            request = client.param_serialize(
                "GET",
                path,
                header_params={"Accept": "application/json"},
                auth_settings=["BearerToken"],
            )
            answer = client.call_api(*request, _request_timeout=_TIMEOUTS)
            return answer.status, answer.read(), answer.headers.get("Date", "")
        except ApiException as error:
            if error.status:
                return error.status, b"", ""
            raise _no_answer(say("{reason}", reason=error.reason)) from error
        except (HTTPError, OSError) as error:
            raise _no_answer(_plain_reason(error)) from error

    def _connect(self) -> Any:  # noqa: ANN401
        from kubernetes import client
        from kubernetes import config as kubernetes_config

        config: Any = kubernetes_config
        wanted = read_kubeconfig(self._kubeconfig)
        settings = client.Configuration()
        try:
            config.load_kube_config_from_dict(
                wanted.content, client_configuration=settings, persist_config=False
            )
        except (config.ConfigException, ValueError, TypeError, OSError) as error:
            raise wanted.spoiled(type(error).__name__) from error
        settings.proxy = None
        settings.retries = False
        self._client = client.ApiClient(settings)
        return self._client


def _plain_reason(error: BaseException) -> Message:
    text = f"{type(error).__name__} {error}"
    if "refused" in text:
        return say("connection refused")
    if "timed out" in text or "Timeout" in text:
        seconds = _TIMEOUTS[0] if "ConnectTimeout" in text else _TIMEOUTS[1]
        return say("no answer within {seconds} s", seconds=f"{seconds:g}")
    if "CERTIFICATE" in text or "certificate" in text:
        return say("its certificate is not the one the kubeconfig trusts")
    return say("{kind} while asking", kind=type(error).__name__)


def _no_answer(reason: Message) -> CannotTell:
    return CannotTell(
        say("the API server does not answer: {reason}", reason=reason),
        next_move=say("see make status, then make provision"),
    )


def _refused(kubeconfig: Path, status: int, path: str) -> CannotTell:
    if status in (401, 403):
        what = say(
            "the API server refuses the credentials of {file}: {status} for {path}",
            status=status,
            path=path,
            file=kubeconfig,
        )
    else:
        what = say("the API server answers {status} for {path}", status=status, path=path)
    return CannotTell(what, next_move=say("see make status, then make provision"))


def _not_served(kind: Kind) -> CannotTell:
    if "kueue" in kind.group_version:
        what = say(
            "Kueue is not installed as it should be: the API server serves no {kind} in {version}",
            kind=kind.name,
            version=kind.group_version,
        )
    else:
        what = say(
            "the API server serves no {kind} in {version}",
            kind=kind.name,
            version=kind.group_version,
        )
    return CannotTell(what, next_move=say("see make status, then make provision"))
