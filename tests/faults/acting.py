"""The right answer of step 4, given while a fault lasts: it must not be called wrong.

Here a false verdict would come easily: the Job is as it should be, and nobody admits or runs it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from provision.message import Message, say
from provision.waiting import wait_until
from tests.faults.faults import Fault
from tests.faults.site import Site, Way
from tests.faults.table import CANNOT_TELL, Cell, Row, call, read

STEP = 4
WORLD = "step 4 now"
PASS_WITHIN = 30.0
GIVEN_IN = frozenset(
    (
        *("API slow by 1 s", "API answers 500 every third time", "Kueue stopped"),
        *("Kueue killed, kept down", "Kueue's webhooks refuse", "scheduler stopped"),
        *("controller-manager stopped", "KWOK stopped", "recorder killed, kept down"),
    )
)
REFUSED_IN = frozenset(("Kueue stopped", "Kueue killed, kept down", "Kueue's webhooks refuse"))


def run(site: Site, faults: Iterable[Fault], tell: Callable[[str], None]) -> tuple[Row, ...]:
    """The answer given in each fault that leaves an API server to give it to."""
    chosen = [fault for fault in faults if fault.name in GIVEN_IN]
    if not chosen:
        return ()
    site.lab.done("reset", "--yes")
    for step in range(1, STEP):
        site.lab.done("solve", str(step), "--yes")
    record = site.lab.progress
    kept = record.read_bytes()
    site.lab.done("solve", str(STEP), "--yes")  # lays the file
    rows = []
    for fault in chosen:
        site.lab.shell("kubectl -n team-a delete jobs --all")
        record.write_bytes(kept)
        rows.append(_play(site, fault, kept))
        tell(str(rows[-1]))
    return tuple(rows)


def _play(site: Site, fault: Fault, kept: bytes) -> Row:
    began, wrong = time.monotonic(), []
    # What spoils the API's answers stands in the way of the checks only, not of the learner.
    direct = site.home / "run" / "direct.kubeconfig"
    direct.write_bytes(site.kubeconfig.read_bytes())
    kubectl = f"kubectl --kubeconfig={direct} --request-timeout=15s -n team-a"
    with fault.inject(site) as way:
        site.lab.shell(f"{kubectl} apply -f job-1.yaml || true")
        is_there = bool(site.lab.shell(f"{kubectl} get job train-1 --ignore-not-found"))
        cells, odd = read(call(site, way, "check", str(STEP), "--json"), [STEP])
        after = site.lab.progress.read_bytes()
    cell = cells.get(STEP, Cell(CANNOT_TELL))
    if is_there == (fault.name in REFUSED_IN):
        wrong.append(f"the Job is {'there' if is_there else 'not there'}")
    if cell.verdict == "NOT YET" and is_there:
        wrong.append(f"step {STEP}: {cell}, though the Job is as it should be")
    if cell.is_cannot_tell and after != kept:
        wrong.append("something was recorded")
    site.await_ready()
    wrong += _comes_by_itself(site) if is_there else []
    return Row(WORLD, fault.name, {STEP: cell}, (*odd, *wrong), time.monotonic() - began)


def _comes_by_itself(site: Site) -> list[str]:
    """With the fault gone, the same Job is let in and runs, and passes."""
    last: list[Cell] = []

    def missing() -> Message | None:
        cells, _ = read(call(site, Way(), "check", str(STEP), "--json"), [STEP])
        last.append(cells[STEP])
        return None if last[-1].verdict == "PASS" else say("{cell}", cell=last[-1])

    wait_until(missing, within=PASS_WITHIN)
    return [f"{cell} after the fault" for cell in last if cell.verdict == "NOT YET"]
