"""What is to be done about one name, given all that there is of it. Pure: asks nobody."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from provision.operators.platform.objects import (
    CLASS_KIND,
    KIND,
    LABELS,
    UID_MARK,
    Claim,
    PriorityClass,
    Standing,
)

READY, NAME_CONFLICT, TERMINATING = "Ready", "NameConflict", "Terminating"


@dataclass(frozen=True, slots=True)
class Hold:
    """Put the finalizer on a claim, before its class is made."""

    claim: Claim


@dataclass(frozen=True, slots=True)
class Make:
    """Make the class of a claim."""

    claim: Claim


@dataclass(frozen=True, slots=True)
class Mend:
    """Bring a claim's own class back to what the claim says."""

    claim: Claim
    found: PriorityClass


@dataclass(frozen=True, slots=True)
class Drop:
    """Delete a class whose claim goes, or has gone."""

    found: PriorityClass


@dataclass(frozen=True, slots=True)
class Release:
    """Take the finalizer off a claim: no class of its own is left."""

    claim: Claim


@dataclass(frozen=True, slots=True)
class Report:
    """Write the standing of a claim; `class_uid` is that of its own class, empty without one.

    `seen_uid` is that of the class that the standing is about.
    """

    claim: Claim
    standing: Standing
    class_uid: str
    seen_uid: str


Deed = Hold | Make | Mend | Drop | Release | Report


def decide(claims: Iterable[Claim], found: PriorityClass | None) -> tuple[Deed, ...]:
    """What to do now, given all claims to one name and the class of that name, if there is one.

    To be asked again after the deeds, until there are none: what is built on a deed is decided when
    the cluster shows that it is done.
    """
    everyone = tuple(claims)
    if found is None:
        return (*_let_go(everyone), *_give_away(everyone))
    owner = owner_of(everyone, found)
    goes = owner.is_deleting if owner else found.is_marked and found.is_made_here
    deeds: list[Deed] = [Drop(found)] if goes and not found.is_deleting else []
    deeds += _let_go(c for c in everyone if c is not owner)
    for claim in everyone:
        if claim.is_deleting:
            continue
        deeds += _keep(claim, found) if claim is owner else _refuse(claim, found, owner)
    return tuple(deeds)


def owner_of(claims: Iterable[Claim], found: PriorityClass) -> Claim | None:
    """The claim that a class of its name was made for.

    Its uid in the claim's status tells, even when the mark was edited out; the mark tells before
    the status does.
    """
    marked = None
    for claim in claims:
        if claim.class_uid == found.uid:
            return claim
        if found.is_marked and found.annotations[UID_MARK] == claim.uid:
            marked = claim
    return marked


def is_right(claim: Claim, found: PriorityClass) -> bool:
    """Whether a claim's own class is as the claim says, with its marks."""
    return (
        (found.value, found.description) == (claim.value, claim.description)
        and found.labels.items() >= LABELS.items()
        and found.annotations.items() >= claim.marks.items()
    )


def _let_go(claims: Iterable[Claim]) -> tuple[Deed, ...]:
    return tuple(Release(c) for c in claims if c.is_deleting and c.is_held)


def _give_away(claims: tuple[Claim, ...]) -> tuple[Deed, ...]:
    """The name is free: it is the oldest claim's; the others wait until its class is there."""
    living = [c for c in claims if not c.is_deleting]
    if not living:
        return ()
    first = min(living, key=lambda c: (c.created, c.uid))
    return (Make(first) if first.is_held else Hold(first),)


def _keep(claim: Claim, found: PriorityClass) -> tuple[Deed, ...]:
    if found.is_deleting:
        text = f'{CLASS_KIND} "{found.name}" is being deleted; it is made again when it has gone.'
        return _report(claim, False, TERMINATING, text, found)
    if not claim.is_held:
        return (Hold(claim),)
    if not is_right(claim, found):
        return (Mend(claim, found),)
    text = f'{CLASS_KIND} "{found.name}" has the value {found.value}.'
    return _report(claim, True, READY, text, found)


def _refuse(claim: Claim, found: PriorityClass, owner: Claim | None) -> tuple[Deed, ...]:
    whose = f"the {KIND} of namespace {owner.namespace}" if owner else "somebody else"
    name = f'{CLASS_KIND} "{found.name}"'
    text = f"A {name} exists already and belongs to {whose}. Create it with another name."
    return _report(claim, False, NAME_CONFLICT, text, found)


def _report(
    claim: Claim, is_ready: bool, reason: str, message: str, found: PriorityClass
) -> tuple[Deed, ...]:
    standing = Standing(is_ready, reason, message, claim.generation)
    class_uid = "" if reason == NAME_CONFLICT else found.uid
    if (claim.standing, claim.class_uid) == (standing, class_uid):
        return ()
    return (Report(claim, standing, class_uid, found.uid),)
