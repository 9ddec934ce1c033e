"""The bodies of what the controller writes. Pure."""

from __future__ import annotations

import hashlib
from typing import Any

from provision.operators.platform.deciding import Report
from provision.operators.platform.objects import (
    CLASS_KIND,
    GROUP,
    KIND,
    KUEUE_GROUP,
    KUEUE_VERSION,
    LABELS,
    MANAGER,
    VERSION,
    Claim,
)

EVENT_NAME_CUT = 200


def class_for(claim: Claim) -> dict[str, Any]:
    """The class that a claim asks for."""
    description = {"description": claim.description} if claim.description else {}
    return {
        "apiVersion": f"{KUEUE_GROUP}/{KUEUE_VERSION}",
        "kind": CLASS_KIND,
        "metadata": {
            "name": claim.name,
            "labels": dict(LABELS),
            "annotations": dict(claim.marks),
        },
        "value": claim.value,
        **description,
    }


def status_of(report: Report, now: str) -> dict[str, Any]:
    """The status to write; the time of the last transition stays when Ready stays as it was."""
    before, standing = report.claim.standing, report.standing
    stays = before is not None and before.is_ready == standing.is_ready
    condition = {
        "type": "Ready",
        "status": str(standing.is_ready),
        "reason": standing.reason,
        "message": standing.message,
        "observedGeneration": standing.generation,
        "lastTransitionTime": report.claim.since if stays else now,
    }
    return {"conditions": [condition], "classUID": report.class_uid or None}


def event_of(report: Report, now: str) -> dict[str, Any]:
    """The event of a standing. Its name is that of the occasion: told twice, it is one event."""
    claim, standing = report.claim, report.standing
    occasion = f"{claim.uid} {standing.reason} {report.seen_uid}"
    name = f"{claim.name[:EVENT_NAME_CUT]}.{hashlib.sha256(occasion.encode()).hexdigest()[:16]}"
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": claim.namespace},
        "involvedObject": {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": KIND,
            "namespace": claim.namespace,
            "name": claim.name,
            "uid": claim.uid,
        },
        "type": "Normal" if standing.is_ready else "Warning",
        "reason": standing.reason,
        "message": standing.message,
        "source": {"component": MANAGER},
        "reportingComponent": MANAGER,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
