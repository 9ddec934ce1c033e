"""Makes Trainer's manifest of its Go module: `render.py FOLDER VERSION`, FOLDER has sources.zip.

Prints "made" when it did, nothing when all is there and of these very sources.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

OVERLAY = "overlays/manager"
RUNTIME = "base/runtimes/torch_distributed.yaml"
# JobSet comes by itself, and from another address.
JOBSET = "third-party/jobset"


def main(folder: Path, version: str) -> None:
    """Write manifest.yaml and objects.yaml, and last the sum of what they were made of."""
    sources, made_of = folder / "sources.zip", folder / "made-of"
    key = hashlib.sha256(sources.read_bytes()).hexdigest()
    if made_of.exists() and made_of.read_text() == key:
        return
    made_of.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        manifests = unpack(sources, Path(name), version)
        chosen = manifests / OVERLAY / "kustomization.yaml"
        lines = chosen.read_text().splitlines()
        chosen.write_text("\n".join(line for line in lines if JOBSET not in line) + "\n")
        command = ["/usr/local/bin/k3s", "kubectl", "kustomize", str(manifests / OVERLAY)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=120)
        (folder / "manifest.yaml").write_bytes(done.stdout)
        shutil.copyfile(manifests / RUNTIME, folder / "objects.yaml")
    made_of.write_text(key)
    sys.stdout.write("made\n")


def unpack(sources: Path, out: Path, version: str) -> Path:
    """Unpack the module's folder `manifests`; where it is then."""
    with zipfile.ZipFile(sources) as archive:
        names = [name for name in archive.namelist() if f"@{version}/manifests/" in name]
        archive.extractall(out, names)
    return out / names[0].split("/manifests/")[0] / "manifests"


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
