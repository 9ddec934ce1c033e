"""Kueue's manifest with a lab's own settings merged into Kueue's Configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from provision.errors import TargetError
from provision.files import write_atomically
from provision.local.components import load_inventory
from provision.message import say
from provision.overlay import merge
from provision.target import PlaceSpec

FILE = "kueue-manifest.yaml"
CONFIG, KEY = "kueue-manager-config", "controller_manager_config.yaml"
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def overlaid(manifest: Path, spec: PlaceSpec) -> Path | None:
    """A copy of Kueue's manifest in the place with the lab's settings; None when it has none.

    Kinds of jobs are those of the lab's sets of parts and its own. All other documents stay as they
    are, byte by byte. TargetError when the manifest holds no Configuration.
    """
    over = _settings(spec)
    if not over:
        return None
    texts = manifest.read_text("utf-8").split("\n---")
    changed = [_changed(text, over) if CONFIG in text else text for text in texts]
    if changed == texts:
        raise TargetError(
            say("{path} holds no configuration of Kueue.", path=manifest),
            next_move=say("Collect the bundle anew."),
        )
    spec.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomically(spec.home / FILE, "\n---".join(changed), mode=0o644)
    return spec.home / FILE


def _settings(spec: PlaceSpec) -> dict[str, object]:
    sets = load_inventory().chosen(spec.parts)
    of_parts = [framework for one in sets[1:] for framework in one.frameworks]
    if not (spec.kueue or spec.frameworks or of_parts):
        return {}
    frameworks = (*sets[0].frameworks, *of_parts, *spec.frameworks)
    kinds = {"integrations": {"frameworks": list(dict.fromkeys(frameworks))}}
    return merge(spec.kueue, kinds)


def _changed(text: str, over: Mapping[str, object]) -> str:
    document = yaml.load(text, Loader=LOADER)
    if document.get("kind") != "ConfigMap" or KEY not in document.get("data", {}):
        return text
    merged = merge(yaml.load(document["data"][KEY], Loader=LOADER), over)
    document["data"][KEY] = yaml.dump(merged, Dumper=DUMPER, sort_keys=False)
    return "\n" + str(yaml.dump(document, Dumper=DUMPER, sort_keys=False, width=200))
