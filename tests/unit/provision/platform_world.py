"""A cluster in memory, as far as the platform's controller sees one, and controllers that race.

It knows what the API server knows of the two kinds: names are taken once, a write that names an old
version is refused, a finalizer holds what is deleted. A controller reads, decides, and may be
stopped before each of its deeds, while others write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from provision.operators.platform.cluster import Refused
from provision.operators.platform.deciding import (
    Deed,
    Drop,
    Hold,
    Make,
    Mend,
    Release,
    Report,
    decide,
)
from provision.operators.platform.objects import FINALIZER, LABELS, Claim, PriorityClass

NAME = "team-b-x"
LATE = 409


@dataclass
class World:
    """All claims to one name by namespace, and the class of that name; `made_by_hand` are uids."""

    claims: dict[str, Claim] = field(default_factory=dict)
    found: PriorityClass | None = None
    made_by_hand: set[str] = field(default_factory=set)
    count: int = 0

    def number(self) -> str:
        self.count += 1
        return f"{self.count:04}"

    # --- what people do ---

    def claim(self, namespace: str, value: int) -> None:
        if namespace not in self.claims:
            made = self.number()
            self.claims[namespace] = Claim(namespace, NAME, f"c{made}", made, 1, made, value)

    def set_value(self, namespace: str, value: int) -> None:
        if (claim := self.claims.get(namespace)) is not None:
            self._write(replace(claim, value=value, generation=claim.generation + 1))

    def delete(self, namespace: str) -> None:
        if (claim := self.claims.get(namespace)) is not None:
            self._write(replace(claim, is_deleting=True))

    def make_by_hand(self, value: int) -> None:
        if self.found is None:
            made = self.number()
            self.found = PriorityClass(NAME, f"k{made}", made, value, "", {}, {})
            self.made_by_hand.add(self.found.uid)

    def delete_by_hand(self) -> None:
        self.found = None

    def edit_by_hand(self, value: int) -> None:
        if self.found is not None:
            self.found = replace(self.found, value=value, version=self.number())

    def strip_by_hand(self) -> None:
        """The marks go. Before a status names the class nobody could know whose it is."""
        found = self.found
        if found is not None and any(c.class_uid == found.uid for c in self.claims.values()):
            self.found = replace(found, labels={}, annotations={}, version=self.number())

    # --- what a controller does ---

    async def names(self) -> frozenset[str]:
        return frozenset({NAME})

    async def read(self, name: str) -> tuple[tuple[Claim, ...], PriorityClass | None]:
        assert name == NAME
        return tuple(self.claims.values()), self.found

    async def perform(self, deed: Deed) -> None:
        self.do(deed)

    def do(self, deed: Deed) -> None:
        match deed:
            case Hold(claim):
                finalizers = (*claim.finalizers, FINALIZER)
                self._write(replace(self._current(claim), finalizers=finalizers))
            case Release(claim):
                rest = tuple(f for f in claim.finalizers if f != FINALIZER)
                self._write(replace(self._current(claim), finalizers=rest))
            case Make(claim):
                self._make(claim)
            case Mend(claim, found):
                self.found = replace(
                    self._current_class(found),
                    value=claim.value,
                    description=claim.description,
                    labels=dict(LABELS),
                    annotations=dict(claim.marks),
                    version=self.number(),
                )
            case Drop(found):
                self._current_class(found)
                self.found = None
            case Report(claim, standing, class_uid):
                current = self._current(claim)
                self._write(replace(current, standing=standing, class_uid=class_uid))

    def _make(self, claim: Claim) -> None:
        if self.found is not None:
            raise Refused(LATE, "it exists")
        made = self.number()
        marks = dict(claim.marks)
        self.found = PriorityClass(
            NAME, f"k{made}", made, claim.value, claim.description, dict(LABELS), marks, False, True
        )

    def _current(self, read: Claim) -> Claim:
        current = self.claims.get(read.namespace)
        if current is None or current.version != read.version:
            raise Refused(LATE, "the claim changed")
        return current

    def _current_class(self, read: PriorityClass) -> PriorityClass:
        assert read.uid not in self.made_by_hand, "a class that was made by hand is not ours"
        if self.found is None or (self.found.uid, self.found.version) != (read.uid, read.version):
            raise Refused(LATE, "the class changed")
        return self.found

    def _write(self, claim: Claim) -> None:
        if claim.is_deleting and not claim.finalizers:
            del self.claims[claim.namespace]
        else:
            self.claims[claim.namespace] = replace(claim, version=self.number())


def controller(world: World) -> Iterator[None]:
    """One controller: each `next` is a read, or one deed on what it read last."""
    while True:
        deeds = decide(tuple(world.claims.values()), world.found)
        yield
        for deed in deeds:
            try:
                world.do(deed)
            except Refused:
                break
            yield


def settle(world: World) -> int:
    """Do what is to be done until there is nothing; how many deeds it took."""
    for done in range(100):
        deeds = decide(tuple(world.claims.values()), world.found)
        if not deeds:
            return done
        world.do(deeds[0])
    raise AssertionError(f"it never comes to rest: {world}")
