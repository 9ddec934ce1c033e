"""The faults, each with what it must do to the verdicts when it truly bites."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tests.faults import cluster, machine, processes, reaching
from tests.faults.site import Injection


class Bites(StrEnum):
    """How many steps cannot be told while a fault lasts; any other step must be told truly."""

    ALL = "all"
    SOME = "some"
    ANY = "any"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong with the place or the machine, never with the learner's work."""

    name: str
    inject: Injection
    bites: Bites
    is_ruin: bool = False  # what the learner made does not survive it


FAULTS = (
    Fault("API server stopped", processes.paused("kube-apiserver"), Bites.ALL),
    Fault("API server killed, kept down", processes.kept_down("kube-apiserver"), Bites.ALL),
    Fault("API slow by 1 s", reaching.spoiled("slow:1"), Bites.ANY),
    Fault("API slow by 5 s", reaching.spoiled("slow:5"), Bites.SOME),
    Fault("API answers 500", reaching.spoiled("status:500"), Bites.ALL),
    Fault("API answers 500 every third time", reaching.spoiled("status:500/3"), Bites.SOME),
    Fault("API answers 429", reaching.spoiled("status:429"), Bites.ALL),
    Fault("API answers are cut off", reaching.spoiled("cut"), Bites.ALL),
    Fault("API answers {}", reaching.spoiled("empty"), Bites.ALL),
    Fault("API answers a web page", reaching.spoiled("page"), Bites.ALL),
    Fault("API's clock 1 h ahead", reaching.spoiled("date:3600"), Bites.ANY),
    Fault("API's clock 1 h behind", reaching.spoiled("date:-3600"), Bites.ANY),
    Fault("etcd stopped", processes.paused("etcd"), Bites.ALL),
    Fault("etcd killed, kept down", processes.kept_down("etcd"), Bites.ALL),
    Fault("Kueue stopped", processes.paused("kueue"), Bites.ALL),
    Fault("Kueue killed, kept down", processes.kept_down("kueue"), Bites.ALL),
    Fault("Kueue's webhooks refuse", cluster.webhooks_refuse, Bites.ANY),
    Fault("scheduler stopped", processes.paused("kube-scheduler"), Bites.ALL),
    Fault("controller-manager stopped", processes.paused("kube-controller-manager"), Bites.ALL),
    Fault("KWOK stopped", processes.paused("kwok"), Bites.ALL),
    Fault("supervisor killed", processes.without_supervisor, Bites.ANY),
    Fault("recorder killed, kept down", processes.kept_down("recorder"), Bites.NONE),
    Fault("recorder down, history lost", processes.without_history, Bites.ANY),
    Fault("the whole place down", processes.place_down, Bites.ALL),
    Fault("kubeconfig missing", reaching.without_learner_kubeconfig, Bites.ALL),
    Fault("grader's kubeconfig missing", reaching.without_grader_kubeconfig, Bites.ALL),
    Fault("kubeconfig for another cluster", reaching.other_server, Bites.ALL),
    Fault("both kubeconfigs for another cluster", reaching.other_cluster, Bites.ALL),
    Fault("client certificate expired", reaching.certificate_of(-2, -1), Bites.ALL),
    Fault("client certificate not yet valid", reaching.certificate_of(1, 2), Bites.ALL),
    Fault("grader may read nothing", cluster.grader_refused, Bites.ALL),
    Fault("disk full for temporary files", machine.no_file_grows, Bites.ALL),
    Fault("disk full but for a few KB", machine.little_room, Bites.ANY),
    Fault("disk full for the record", machine.record_cannot_grow, Bites.SOME),
    Fault("grader killed at once", machine.grader_killed, Bites.ALL),
    Fault("grader's clock 1 h ahead", machine.clock_off(3600), Bites.ANY),
    Fault("grader's clock 1 day behind", machine.clock_off(-86400), Bites.ANY),
    Fault("Kueue's CRDs going", cluster.definitions_going, Bites.ANY, is_ruin=True),
    Fault("Kueue's CRDs gone", cluster.definitions_gone, Bites.ALL, is_ruin=True),
)
