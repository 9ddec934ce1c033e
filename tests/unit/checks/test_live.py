"""The cluster as watches show it, against an API server whose watches can be cut."""

import threading
from contextlib import contextmanager

import pytest

from checks.kit.cluster import POD
from checks.kit.stream import ApiStream, StreamLost
from checks.live import LiveCluster
from provision.message import say
from provision.waiting import wait_until
from tests.fakes.api import FakeApi, serving


@contextmanager
def living(kubeconfig, monkeypatch):
    monkeypatch.setattr("checks.live.kinds", lambda _: (POD,))
    live = LiveCluster(kubeconfig, "-", (news := threading.Event()).set)
    live.start()
    try:
        yield live, news
    finally:
        live.stop()
    assert not any(thread.name == "pods/" for thread in threading.enumerate())


def await_pods(live, *wanted):
    def missing():
        found = sorted((pod.name, pod.node) for pod in live.look()[-1].pods)
        return None if found == sorted(wanted) else say("{found}", found=found)

    wait_until(missing, within=8, every=0.02)


def test_it_lists_once_then_only_watches(api, monkeypatch):
    fake, kubeconfig = api
    fake.put("ADDED", "a", nodeName="")
    with living(kubeconfig, monkeypatch) as (live, news):
        await_pods(live, ("job-a", ""))
        fake.put("MODIFIED", "a", nodeName="node")
        fake.put("ADDED", "b", nodeName="")
        await_pods(live, ("job-a", "node"), ("job-b", ""))
        fake.put("DELETED", "b", nodeName="")
        await_pods(live, ("job-a", "node"))
        assert live.trouble == ""
        assert news.is_set()
        assert [("watch" in path) for path in fake.asked] == [False, True]


def test_a_watch_that_ends_well_is_taken_up_without_a_list(api, monkeypatch):
    fake, kubeconfig = api
    with living(kubeconfig, monkeypatch) as (live, _):
        fake.put("ADDED", "a", nodeName="")
        await_pods(live, ("job-a", ""))
        fake.put("ADDED", "b", nodeName="")  # after the one list, so the watch brings it
        await_pods(live, ("job-a", ""), ("job-b", ""))
        fake.end_watches()
        wait_until(lambda: None if len(fake.asked) > 2 else say("ended"), within=8, every=0.02)
        fake.put("ADDED", "c", nodeName="")
        await_pods(live, ("job-a", ""), ("job-b", ""), ("job-c", ""))
        assert [("watch" in path) for path in fake.asked[:3]] == [False, True, True]


def test_after_410_the_list_replaces_what_was_known(api, monkeypatch):
    fake, kubeconfig = api
    fake.put("ADDED", "a", nodeName="")
    with living(kubeconfig, monkeypatch) as (live, _):
        await_pods(live, ("job-a", ""))
        fake.refuse = [410]
        fake.items.pop("a")
        fake.end_watches()
        await_pods(live)


def test_changes_are_told_in_the_order_of_the_cluster(api, monkeypatch):
    """Watches of two kinds tell independently; the version says what came first."""
    _, kubeconfig = api
    with living(kubeconfig, monkeypatch) as (live, _):
        await_pods(live)
        for name, version in (("c", 9), ("a", 7), ("b", 8)):
            metadata = {"name": name, "uid": name, "resourceVersion": str(version)}
            live.see("Pod", {"metadata": metadata})
        seen = [sorted(pod.name for pod in one.pods) for one in live.look()]
        assert seen == [["a"], ["a", "b"], ["a", "b", "c"]]
        assert [sorted(pod.name for pod in one.pods) for one in live.look()] == [["a", "b", "c"]]
        for number in range(200):
            metadata = {"name": "x", "uid": "x", "resourceVersion": str(100 + number)}
            live.see("Pod", {"metadata": metadata})
        assert len(live.look()) == 1


def test_trouble_is_told_and_what_was_seen_stays(api, monkeypatch):
    fake, kubeconfig = api
    fake.put("ADDED", "a", nodeName="")
    with living(kubeconfig, monkeypatch) as (live, news):
        await_pods(live, ("job-a", ""))
        news.clear()
        fake.refuse = [503] * 3
        fake.end_watches()
        wait_until(lambda: None if live.trouble else say("no trouble"), within=5, every=0.01)
        assert "503" in live.trouble
        assert news.is_set()
        assert [pod.name for pod in live.look()[-1].pods] == ["job-a"]
        wait_until(lambda: say("{t}", t=live.trouble) if live.trouble else None, within=8)


def test_it_stops_though_nothing_answers(tmp_path):
    with serving(FakeApi(), tmp_path) as kubeconfig:
        pass
    live = LiveCluster(kubeconfig, "kueue.x-k8s.io/v1beta2", lambda: None)
    live.start()
    wait_until(lambda: None if "refused" in live.trouble else say("{t}", t=live.trouble), within=5)
    live.stop()


def test_a_server_that_hangs_is_noticed_though_its_watches_are_open(api, monkeypatch):
    monkeypatch.setattr("checks.kit.pulse.REST_SECONDS", 0.02)
    monkeypatch.setattr("checks.kit.pulse.ANXIOUS_SECONDS", 0.02)
    fake, kubeconfig = api
    with living(kubeconfig, monkeypatch) as (live, news):
        await_pods(live)
        wait_until(lambda: say("{x}", x=live.trouble) if live.trouble else None, within=8)

        def hang(self, within):
            raise StreamLost("timed out")

        with monkeypatch.context() as hung:
            hung.setattr(ApiStream, "reach", hang)
            news.clear()
            wait_until(lambda: None if live.trouble == "timed out" else say("not yet"), within=8)
            assert news.wait(8)
            news.clear()
        wait_until(lambda: say("{x}", x=live.trouble) if live.trouble else None, within=8)
        assert news.wait(8)
        assert [("watch" in path) for path in fake.asked] == [False, True]


def test_connecting_asks_nothing_and_tells_when_nobody_is_there(api, tmp_path):
    fake, kubeconfig = api
    ApiStream(kubeconfig).reach(2)
    assert fake.asked == []
    with pytest.raises(StreamLost):
        ApiStream(tmp_path / "none").reach(2)
