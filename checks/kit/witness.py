"""Two witnesses for one requirement: the learner's file and the object in the cluster.

One function judges a manifest, wherever it was read. What a learner is told says which of the two
is off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from checks.kit.agreement import first_difference, judge_fields
from checks.kit.cluster import Cluster, Kind, Object
from checks.kit.expect import Fault, Path, cut, plain, show, spell_path
from checks.kit.files import Files
from checks.kit.manifests import Document, place, read_documents
from checks.kit.odd import describe_oddity, first_oddity
from checks.kit.paths import MISSING, dig, dig_text
from checks.kit.schema import find_refusal
from checks.outcome import Finding, Mismatch
from provision.message import Message, say


@dataclass(frozen=True, slots=True)
class Wanted:
    """One object that a step asks for, in a file and in the cluster.

    `namespace` is empty for kinds without one; `judge` says what is off in its content beyond
    apiVersion, kind, name and namespace. What the file says in the fields of `compared` must be in
    the cluster, too; the API lets nobody change them there when the object `is_fixed`.
    """

    kind: Kind
    name: str
    file: str
    judge: Callable[[Object], Fault | None]
    namespace: str = ""
    compared: tuple[Path, ...] = (("spec",),)
    is_fixed: bool = False

    @property
    def title(self) -> str:
        """Kind and name, as people say it."""
        return f"{self.kind.name} {self.name}"


def look_in_file(files: Files, cluster: Cluster, wanted: Wanted) -> Document:
    """The right document of the file; Mismatch that says, too, when the cluster has it right."""
    try:
        return _judge_file(files, wanted)
    except Mismatch as error:
        if find_fault(cluster, wanted) is not None:
            raise
        finding = error.finding
        found = say(
            "{found} ({object} in the cluster is right)", found=finding.found, object=wanted.title
        )
        raise Mismatch(replace(finding, found=found)) from None


def look_in_cluster(files: Files, cluster: Cluster, wanted: Wanted) -> Object:
    """The right object of the cluster, as the file, which is right, has it; else a Mismatch.

    When the API would refuse the file, that is told first.
    """
    document = _judge_file(files, wanted)
    live = cluster.one(wanted.kind, wanted.name, wanted.namespace) or {}
    finding = find_fault(cluster, wanted) or _disagreement(document, live, wanted)
    if finding is None:
        return live
    schemas = cluster.schemas(wanted.kind)
    refusal = find_refusal(document.content, wanted.kind.name, schemas)
    raise Mismatch(finding if refusal is None else _in_file(document, refusal))


def _disagreement(document: Document, live: Object, wanted: Wanted) -> Finding | None:
    """What the file says beyond what a step asks for, and the cluster does not hold."""
    difference = first_difference(document.content, live, wanted.compared)
    if difference is None:
        return None
    line = place(document.file, document.line_of(difference.path))
    move = say("take it out of {file}, or apply {file} again", file=wanted.file)
    if wanted.is_fixed:
        move = say(
            "take it out of {file}; or delete {object}, and apply {file} again",
            file=wanted.file,
            object=wanted.title,
        )
    held = say("no such field") if difference.held is MISSING else plain(show(difference.held))
    said = say("{value}, as {place} has it", value=show(difference.said), place=line)
    return Finding(in_cluster(wanted, spell_path(difference.path)), said, held, move)


def find_fault(cluster: Cluster, wanted: Wanted) -> Finding | None:
    """What is off with the object in the cluster, None when it is there and right."""
    live = cluster.one(wanted.kind, wanted.name, wanted.namespace)
    if live is None:
        cluster.require_kind_stays(wanted.kind)
        return _absent(cluster, wanted)
    fault = wanted.judge(live)
    if fault is None:
        return _leaving(cluster, wanted, live)
    if fault.remedy is not None:
        move = fault.remedy
    elif fault.is_fixed:
        move = say(
            "{object} cannot be changed there: delete it, then apply {file} again",
            object=wanted.title,
            file=wanted.file,
        )
    else:
        move = say("bring the cluster to what {file} should say: apply it again", file=wanted.file)
    return Finding(in_cluster(wanted, spell_path(fault.path)), fault.expected, fault.found, move)


def _leaving(cluster: Cluster, wanted: Wanted, live: Object) -> Finding | None:
    """That an object is deleted and only kept until nothing uses it; None when it stays."""
    if not dig_text(live, "metadata", "deletionTimestamp"):
        return None
    cluster.require_kind_stays(wanted.kind)
    return Finding(
        in_cluster(wanted, "metadata.deletionTimestamp"),
        say("an object that stays"),
        say("it was deleted, and goes as soon as nothing uses it"),
        say("delete what uses it, so that it goes, then apply {file} again", file=wanted.file),
    )


def in_cluster(wanted: Wanted, field: str = "") -> Message:
    """Where in the cluster: the object, with a field when one is meant."""
    where = f" ({wanted.namespace})" if wanted.namespace else ""
    if not field:
        return say("{object} in the cluster", object=wanted.title + where)
    return say("{object} in the cluster, {field}", object=wanted.title + where, field=field)


def _absent(cluster: Cluster, wanted: Wanted) -> Finding:
    move = say("apply {file} (kubectl apply -f {file})", file=wanted.file)
    if wanted.namespace:
        for item in cluster.all(wanted.kind):
            if dig_text(item, "metadata", "name") == wanted.name:
                return Finding(
                    in_cluster(wanted, "metadata.namespace"),
                    plain(wanted.namespace),
                    plain(dig_text(item, "metadata", "namespace")),
                    say(
                        "delete it there, and apply {file} with the namespace {namespace}",
                        file=wanted.file,
                        namespace=wanted.namespace,
                    ),
                )
    there = cluster.all(wanted.kind, wanted.namespace)
    others = [dig_text(item, "metadata", "name") for item in there]
    found = (
        say("no such object; there is {others}", others=", ".join(sorted(others)[:5]))
        if others
        else say("no such object: nothing was applied, or the API refused it")
    )
    return Finding(in_cluster(wanted), say("applied"), found, move)


def _judge_file(files: Files, wanted: Wanted) -> Document:
    file = files.text(wanted.file)
    document, fault = _choose(read_documents(file), wanted)
    fault = fault or _judge_version(document, wanted)
    judges = [wanted.judge, judge_fields]
    if "spec" not in document.content:
        judges.reverse()
    for judge in judges:
        fault = fault or judge(document.content)
    if fault is None:
        return document
    raise Mismatch(_in_file(document, fault))


def _in_file(document: Document, fault: Fault) -> Finding:
    oddity = first_oddity(document.file.text)
    return Finding(
        place(document.file, document.line_of(fault.path), spell_path(fault.path)),
        fault.expected,
        fault.found,
        describe_oddity(oddity) if oddity else fault.next_move,
    )


def _choose(documents: Sequence[Document], wanted: Wanted) -> tuple[Document, Fault | None]:
    same = [d for d in documents if dig(d.content, "kind") == wanted.kind.name]
    if not same:
        kinds = ", ".join(show(d.content["kind"]) for d in documents[:5] if "kind" in d.content)
        fault = Fault(
            ("kind",),
            plain(wanted.kind.name),
            plain(kinds)
            if kinds
            else say("no field kind, but {fields}", fields=cut(", ".join(documents[0].content))),
            say("write the kind as the API spells it: {kind}", kind=wanted.kind.name),
        )
        return documents[0], fault
    named = [d for d in same if dig(d.content, "metadata", "name") == wanted.name]
    if not named:
        return same[0], _wrong_name(same[0], wanted)
    right = [d for d in named if _is_in_namespace(d, wanted)]
    return (right or named)[-1], None


def _is_in_namespace(document: Document, wanted: Wanted) -> bool:
    """It names the wanted namespace, or none, so that a flag of kubectl can name it."""
    namespace = dig(document.content, "metadata", "namespace")
    return namespace in (MISSING, None, "", wanted.namespace) or not wanted.namespace


def _wrong_name(document: Document, wanted: Wanted) -> Fault:
    name = dig(document.content, "metadata", "name")
    if name is MISSING and dig(document.content, "metadata", "generateName") is not MISSING:
        return Fault(
            ("metadata", "generateName"),
            say("metadata.name {name}", name=wanted.name),
            say("generateName, which gives a new name every time"),
            say("give it the name {name} in metadata.name", name=wanted.name),
        )
    return Fault(
        ("metadata", "name"),
        plain(wanted.name),
        say("no name") if name is MISSING else plain(show(name).strip('"')),
        say("the steps after this one look for {name}", name=wanted.name),
    )


def _judge_version(document: Document, wanted: Wanted) -> Fault | None:
    version = dig(document.content, "apiVersion")
    if version != wanted.kind.group_version:
        return Fault(
            ("apiVersion",),
            plain(wanted.kind.group_version),
            say("no apiVersion") if version is MISSING else plain(show(version).strip('"')),
            say(
                "the API server here serves {kind} only in {version}, so it refuses this file",
                kind=wanted.kind.name,
                version=wanted.kind.group_version,
            ),
        )
    if _is_in_namespace(document, wanted):
        return None
    return Fault(
        ("metadata", "namespace"),
        plain(wanted.namespace),
        plain(show(dig(document.content, "metadata", "namespace")).strip('"')),
        say("the step asks for the namespace {namespace}", namespace=wanted.namespace),
    )
