"""The settings of containerd, the kubelet and kube-proxy, for a machine that is a container."""

import json
from pathlib import Path

from certificates import Node, write
from options import Options, last
from paths import AGENT, CNI, CREDENTIALS, RUN, SOCKET, TLS

PODS = "10.42.0.0/24"
SANDBOX = "registry.k8s.io/pause:3.10.1"
KUBELET = AGENT / "etc/kubelet.json"
PROXY = AGENT / "etc/kube-proxy.json"
CONTAINERD = AGENT / "etc/containerd/config.toml"
NETWORK = AGENT / "etc/cni/net.d/10-lab.conflist"


def write_json(path: Path, content: object) -> None:
    write(path, json.dumps(content, indent=1), 0o600)


def configure_containerd() -> None:
    bridge = {
        "type": "bridge",
        "bridge": "cni0",
        "isGateway": True,
        "ipMasq": True,
        "hairpinMode": True,
        "ipam": {
            "type": "host-local",
            "ranges": [[{"subnet": PODS}]],
            "routes": [{"dst": "0.0.0.0/0"}],
        },
    }
    ports = {"type": "portmap", "capabilities": {"portMappings": True}}
    write_json(NETWORK, {"cniVersion": "1.0.0", "name": "cbr0", "plugins": [bridge, ports]})
    # Negative scores for the OOM killer need a capability that the machine may lack.
    write(
        CONTAINERD,
        f"""version = 3
root = "{AGENT}/containerd"
state = "{RUN}"
disabled_plugins = ["io.containerd.nri.v1.nri", "io.containerd.internal.v1.opt"]
[grpc]
  address = "{SOCKET}"
[plugins."io.containerd.cri.v1.images"]
  snapshotter = "overlayfs"
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "{SANDBOX}"
[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
[plugins."io.containerd.cri.v1.runtime".cni]
  bin_dirs = ["{CNI}"]
  conf_dir = "{NETWORK.parent}"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
  SystemdCgroup = false
""",
        0o600,
    )


def configure_kubelet() -> None:
    write_json(
        KUBELET,
        {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": str(TLS / "client-ca.crt")},
            },
            "authorization": {"mode": "Webhook"},
            "tlsCertFile": str(TLS / "serving-kubelet.crt"),
            "tlsPrivateKeyFile": str(TLS / "serving-kubelet.key"),
            "containerRuntimeEndpoint": f"unix://{SOCKET}",
            "cgroupDriver": "cgroupfs",
            "failSwapOn": False,
            "clusterDNS": ["10.43.0.10"],
            "clusterDomain": "cluster.local",
            "serializeImagePulls": False,
            "volumePluginDir": "/var/lib/kubelet/volumeplugins",
            # The disk is the tests' own and as full as it is.
            "evictionHard": {"imagefs.available": "1%", "nodefs.available": "1%"},
            "imageGCHighThresholdPercent": 100,
            "imageGCLowThresholdPercent": 99,
            # What a container may not do.
            "oomScoreAdj": 0,
            "maxOpenFiles": 20000,
            "featureGates": {"KubeletInUserNamespace": True},
            # So that a test need not wait for what a person would.
            "nodeStatusUpdateFrequency": "2s",
        },
    )


def kubelet_arguments(node: Node, options: Options) -> list[str]:
    labels = [*options.get("node-label", []), "node.kubernetes.io/instance-type=k3s"]
    return [
        f"--kubeconfig={CREDENTIALS / 'kubelet.kubeconfig'}",
        f"--config={KUBELET}",
        f"--hostname-override={node.name}",
        f"--node-ip={node.address}",
        f"--node-labels={','.join(labels)}",
        *(f"--{argument}" for argument in options.get("kubelet-arg", [])),
    ]


def configure_proxy(node: Node, options: Options) -> None:
    write_json(
        PROXY,
        {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "clientConnection": {"kubeconfig": str(CREDENTIALS / "proxy.kubeconfig")},
            "mode": last(options, "standin-proxy-mode", "nftables"),
            "clusterCIDR": "10.42.0.0/16",
            "hostnameOverride": node.name,
            # These limits are the host's, which a container may not change.
            "conntrack": {
                "maxPerCore": 0,
                "min": 0,
                "tcpEstablishedTimeout": "0s",
                "tcpCloseWaitTimeout": "0s",
            },
            "oomScoreAdj": 0,
            "healthzBindAddress": "127.0.0.1:10256",
            "metricsBindAddress": "127.0.0.1:10249",
        },
    )
