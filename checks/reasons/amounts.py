"""What a Workload asks for, read from its pod sets; what a pod takes of a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from checks.kit.paths import dig, dig_list, dig_map
from checks.kit.quantities import sum_amounts

Amounts = Mapping[str, Fraction]


def pod_amounts(spec: object) -> Amounts:
    """What a pod asks in all: what runs together, or one init container when that is more.

    Together run the containers and the sidecars: init containers with restartPolicy Always (KEP
    753), next to which the init containers after them run, too. A limit without a request counts
    as the request, as the API server and Kueue have it.
    """
    starts = dig_list(spec, "initContainers")
    together = [one for one in starts if is_sidecar(one)] + dig_list(spec, "containers")
    total = dict(sum_amounts(_asked(one) for one in together))
    for index, one in enumerate(starts):
        before = [other for other in starts[:index] if is_sidecar(other)]
        for name, amount in sum_amounts(_asked(other) for other in (*before, one)).items():
            total[name] = max(total.get(name, Fraction(0)), amount)
    overhead = sum_amounts([dig_map(spec, "overhead")])
    return {
        name: total.get(name, Fraction(0)) + overhead.get(name, Fraction(0))
        for name in {*total, *overhead}
    }


def is_sidecar(init_container: object) -> bool:
    """An init container that goes on running next to the containers."""
    return dig(init_container, "restartPolicy") == "Always"


def pod_set_amounts(pod_sets: Sequence[object]) -> Amounts:
    """What all pod sets of a Workload ask together."""
    total: dict[str, Fraction] = {}
    for pod_set in pod_sets:
        count = dig(pod_set, "count")
        factor = count if isinstance(count, int) else 1
        for name, amount in pod_amounts(dig(pod_set, "template", "spec")).items():
            total[name] = total.get(name, Fraction(0)) + amount * factor
    return total


def _asked(container: object) -> dict[str, object]:
    limits = dig_map(container, "resources", "limits")
    return {**limits, **dig_map(container, "resources", "requests")}
