"""Whether the cluster holds all that a manifest says, field by field and by meaning.

Only what the manifest names is looked for: the cluster may hold more, which the API server and the
controllers have added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from checks.kit.expect import Fault, Path, spell_path
from checks.kit.paths import MISSING, dig
from checks.kit.quantities import is_same_amount
from provision.message import say

# The fields of any object's metadata (k8s.io/apimachinery, ObjectMeta).
_METADATA = {
    *("name", "generateName", "namespace", "labels", "annotations", "finalizers"),
    *("ownerReferences", "uid", "resourceVersion", "generation", "creationTimestamp"),
    *("deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink"),
}
_TOP = {"apiVersion", "kind", "metadata", "spec", "status"}


@dataclass(frozen=True, slots=True)
class Difference:
    """The first field of a manifest that the cluster holds otherwise, or (MISSING) not at all."""

    path: Path
    said: object
    held: object


def first_difference(said: object, held: object, paths: Iterable[Path]) -> Difference | None:
    """What these fields of a manifest say and the live object does not; None when all is so."""
    found = (_compare(dig(said, *path), dig(held, *path), path) for path in paths)
    return next((one for one in found if one is not None), None)


def judge_fields(content: Mapping[str, object]) -> Fault | None:
    """A key at the top or in metadata that no object has, so that kubectl refuses the manifest."""
    paths: list[Path] = [(key,) for key in content if key not in _TOP]
    metadata = content.get("metadata")
    if isinstance(metadata, Mapping):
        paths += [("metadata", key) for key in metadata if key not in _METADATA]
    if not paths:
        return None
    return Fault(
        paths[0],
        say("only fields that exist"),
        say("{field}: no object has such a field", field=spell_path(paths[0])),
        say("kubectl refuses a file with it: correct its name, or take it out"),
    )


def _compare(said: object, held: object, path: Path) -> Difference | None:
    if isinstance(said, Mapping):
        for key, value in said.items():
            inner = held.get(key, MISSING) if isinstance(held, Mapping) else MISSING
            if (found := _compare(value, inner, (*path, key))) is not None:
                return found
        return None
    if isinstance(said, list):
        return _compare_lists(said, held if isinstance(held, list) else [], path)
    is_nothing = said is MISSING or said is None or (not said and held is MISSING)
    return None if is_nothing or _is_same(said, held) else Difference(path, said, held)


def _compare_lists(said: list[object], held: list[object], path: Path) -> Difference | None:
    """Each item has one of its own on the other side, whatever the order."""
    rest = list(held)
    for index, item in enumerate(said):
        where = (*path, index)
        same = next((one for one in rest if _compare(item, one, where) is None), MISSING)
        if same is MISSING:
            twin = next((one for one in rest if _is_named_alike(item, one)), MISSING)
            return (
                Difference(where, item, MISSING) if twin is MISSING else _compare(item, twin, where)
            )
        rest.remove(same)
    return None


def _is_named_alike(one: object, other: object) -> bool:
    name = dig(one, "name")
    return name is not MISSING and name == dig(other, "name")


def _is_same(said: object, held: object) -> bool:
    if isinstance(said, bool) or isinstance(held, bool):
        return said is held
    return said == held or is_same_amount(said, held)
