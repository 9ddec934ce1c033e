"""The arguments of etcd and the control plane."""

from certificates import Node
from paths import CREDENTIALS, DATA, TLS

ETCD = "http://127.0.0.1:2379"


def etcd() -> list[str]:
    return [
        f"--data-dir={DATA / 'server/db/etcd'}",
        f"--listen-client-urls={ETCD}",
        f"--advertise-client-urls={ETCD}",
        "--listen-peer-urls=http://127.0.0.1:2380",
        # A machine for tests is thrown away; its disk need not be waited for.
        "--unsafe-no-fsync",
    ]


def apiserver(node: Node) -> list[str]:
    return [
        f"--etcd-servers={ETCD}",
        "--secure-port=6443",
        f"--advertise-address={node.address}",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--allow-privileged=true",
        "--service-cluster-ip-range=10.43.0.0/16",
        f"--tls-cert-file={TLS / 'serving-api.crt'}",
        f"--tls-private-key-file={TLS / 'serving-api.key'}",
        f"--client-ca-file={TLS / 'client-ca.crt'}",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={TLS / 'service.key'}",
        f"--service-account-signing-key-file={TLS / 'service.key'}",
        f"--kubelet-client-certificate={TLS / 'client-apiserver.crt'}",
        f"--kubelet-client-key={TLS / 'client-apiserver.key'}",
        f"--kubelet-certificate-authority={TLS / 'server-ca.crt'}",
        "--kubelet-preferred-address-types=InternalIP,Hostname",
        f"--requestheader-client-ca-file={TLS / 'request-header-ca.crt'}",
        "--requestheader-allowed-names=system:auth-proxy",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-username-headers=X-Remote-User",
        f"--proxy-client-cert-file={TLS / 'client-auth-proxy.crt'}",
        f"--proxy-client-key-file={TLS / 'client-auth-proxy.key'}",
    ]


def controller_manager() -> list[str]:
    return [
        *_credentials("controller"),
        f"--service-account-private-key-file={TLS / 'service.key'}",
        f"--root-ca-file={TLS / 'server-ca.crt'}",
        "--use-service-account-credentials=true",
        # It makes this folder.
        "--flex-volume-plugin-dir=/var/lib/kubelet/volumeplugins",
    ]


def scheduler() -> list[str]:
    return _credentials("scheduler")


def _credentials(name: str) -> list[str]:
    path = CREDENTIALS / f"{name}.kubeconfig"
    return [
        f"--kubeconfig={path}",
        f"--authentication-kubeconfig={path}",
        f"--authorization-kubeconfig={path}",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
    ]
