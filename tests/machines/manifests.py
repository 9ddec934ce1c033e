"""The manifests of the test bundle: Kueue's as a release has it, and that of the pretend GPUs."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path

from provision.local.components import DATA
from provision.versions import KUEUE
from tests.machines.parts import go, parts
from tests.machines.shell import run

JOBSET, TRAINER = "sigs.k8s.io/jobset", "github.com/kubeflow/trainer/v2"
# How the manifests name the images.
TRAINING_IMAGES = {
    "jobset": "registry.k8s.io/jobset/jobset",
    "trainer": "ghcr.io/kubeflow/trainer/trainer-controller-manager",
}
FAKE_GPU_IMAGE = "registry.test/gpu-queue-lab/fakegpu:1"
FAKE_GPUS = f"""\
apiVersion: v1
kind: Namespace
metadata:
  name: gpu-operator
---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: device-plugin
  namespace: gpu-operator
spec:
  selector:
    matchLabels: {{app: device-plugin}}
  template:
    metadata:
      labels: {{app: device-plugin}}
    spec:
      tolerations: [{{operator: Exists}}]
      containers:
        - name: plugin
          image: {FAKE_GPU_IMAGE}
          imagePullPolicy: IfNotPresent
          env:
            - {{name: COUNT, value: "4"}}
            - {{name: RESOURCE, value: nvidia.com/gpu}}
          securityContext: {{privileged: true}}
          volumeMounts:
            - {{name: kubelet, mountPath: /var/lib/kubelet/device-plugins}}
      volumes:
        - name: kubelet
          hostPath: {{path: /var/lib/kubelet/device-plugins}}
"""


def kueue_image(version: str) -> str:
    """How a release's manifest names Kueue's image."""
    return f"registry.k8s.io/kueue/kueue:{version}"


def kueue_manifest(version: str) -> str:
    """What a release of Kueue is installed with, as its makers make it, with `version` as its tag.

    The sources are those of the version that is built here, whatever `version` says.
    """
    image, _, tag = kueue_image(version).rpartition(":")
    return _kustomized(DATA / "go", KUEUE, image, tag)


def jobset_manifest(version: str) -> str:
    """What a release of JobSet is installed with, as its makers make it."""
    return _kustomized(DATA / "go-training", JOBSET, TRAINING_IMAGES["jobset"], version)


def trainer_module() -> Path:
    """The Go module of Trainer, which has its manifests: its releases hold none."""
    told = go("mod", "download", "-json", TRAINER, folder=DATA / "go-training")
    return Path(json.loads(told)["Zip"])


def _kustomized(folder: Path, name: str, image: str, tag: str) -> str:
    """The folder `config/default` of a module as one manifest that names this image."""
    go("mod", "download", name, folder=folder)
    module = go("list", "-mod=readonly", "-m", "-f", "{{.Dir}}", name, folder=folder).strip()
    with tempfile.TemporaryDirectory(prefix="manifest-") as draft:
        config = Path(draft) / "config"
        shutil.copytree(Path(module) / "config", config)
        chosen = config / "components" / "manager" / "kustomization.yaml"
        text = re.sub(r"newName: .*", f"newName: {image}", chosen.read_text("utf-8"))
        chosen.chmod(0o644)
        chosen.write_text(re.sub(r"newTag: .*", f"newTag: {tag}", text), "utf-8")
        made = run(parts().binaries["kubectl"], "kustomize", config / "default", within=60)
    if f"image: {image}:{tag}" not in made:
        raise ValueError(f"the manifest does not name {image}:{tag}")
    return made
