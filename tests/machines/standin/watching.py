"""The folders that k3s looks at while it runs: image archives to import, manifests to apply."""

import subprocess
from pathlib import Path

from children import log
from paths import IMAGES, KUBECONFIG, MANIFESTS, SOCKET, program

ENDINGS = (".tar", ".tar.gz", ".tar.zst", ".tgz", ".tzst")
SECONDS = 120


class Folder:
    """A folder whose files are taken once, and again when they change."""

    def __init__(self, path: Path, endings: tuple[str, ...]) -> None:
        self._path, self._endings = path, endings
        self._seen: dict[Path, tuple[int, int]] = {}
        path.mkdir(parents=True, exist_ok=True)

    def changed(self) -> list[Path]:
        found = []
        for path in sorted(self._path.iterdir()):
            # A file that is being copied there has a name of its own until it is whole.
            if path.name.startswith(".") or not path.name.endswith(self._endings):
                continue
            facts = path.stat()
            state = (facts.st_size, facts.st_mtime_ns)
            if self._seen.get(path) != state:
                self._seen[path] = state
                found.append(path)
        return found


class Watched:
    """Both folders."""

    def __init__(self) -> None:
        self._images = Folder(IMAGES, ENDINGS)
        self._manifests = Folder(MANIFESTS, (".yaml", ".yml", ".json"))

    def import_images(self) -> None:
        ctr = [program("ctr"), f"--address={SOCKET}", "--namespace=k8s.io"]
        for path in self._images.changed():
            self._tell(path, [*ctr, "images", "import", "--local", str(path)])

    def apply_manifests(self) -> None:
        kubectl = [program("kubectl"), f"--kubeconfig={KUBECONFIG}", "apply", "--server-side"]
        for path in self._manifests.changed():
            self._tell(path, [*kubectl, "--force-conflicts", f"--filename={path}"])

    def _tell(self, path: Path, command: list[str]) -> None:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        if done.returncode == 0:
            log("took", path.name)
        else:
            log("cannot take", path.name, done.stderr.strip()[-300:])
