"""Records what the doctor's self-test replays: `LAB_HOME=... python -m tests.selftest [LAB]`.

The place must be up with the steps up to the self-test's own one solved. Whatever the checks ask
for is fetched through the grader's account, slimmed, and written to `checks/<lab>/selftest`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from lab.doctor.replay import Replay
from lab.doctor.selftest import ANSWERS, judge_files, read_trial
from lab.grading import checks_folder
from lab.places import Place, Places

# Asked for only when something is amiss, as it is while lists are still missing.
LATER = ("/openapi/", "/customresourcedefinitions/")
SHED = ("managedFields", "annotations", "selfLink")


def main() -> None:
    place = Places(os.environ, is_root=os.geteuid() == 0).open(*sys.argv[1:2])
    folder = checks_folder() / place.lab.slug / "selftest"
    answers = record(place, folder)
    text = json.dumps(answers, indent=1, sort_keys=True)
    (folder / ANSWERS).write_text(text + "\n", encoding="utf-8")
    print("\n".join(answers))  # noqa: T201


def record(place: Place, folder: Path) -> dict[str, Any]:
    """Ask the checks what they miss, fetch it, and ask again until nothing is missed."""
    answers: dict[str, Any] = {}
    for kind in ("right", "wrong"):
        trial = read_trial(folder / kind, kind)
        while True:
            with tempfile.TemporaryDirectory() as name, Replay(answers) as replay:
                judge_files(place.lab, trial.step, trial.folder / "files", replay, Path(name))
            missing = [path for path in dict.fromkeys(replay.missing) if path not in answers]
            wanted = [path for path in missing if not any(part in path for part in LATER)]
            if not wanted:
                break
            answers |= {path: fetch(place, path) for path in wanted}
    return answers


def fetch(place: Place, path: str) -> Any:
    info = place.target.info()
    kubectl = place.target.tools_dir() / "kubectl"
    done = subprocess.run(
        [kubectl, f"--kubeconfig={info.grader_kubeconfig}", "get", "--raw", path],
        capture_output=True,
        check=True,
    )
    return slim(json.loads(done.stdout))


def slim(answer: Any) -> Any:
    """Without what no check looks at: who wrote which field, and discovery beyond names."""
    if answer["kind"] == "APIResourceList":
        kept = [r for r in answer["resources"] if "/" not in r["name"]]
        return answer | {"resources": [{k: r[k] for k in ("name", "kind")} for r in kept]}
    for item in answer["items"]:
        for key in SHED:
            item["metadata"].pop(key, None)
    return answer


if __name__ == "__main__":
    main()
