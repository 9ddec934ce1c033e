"""A place's own throw-away certificates: three authorities that trust nothing of one another.

`ca` signs for the cluster, `etcd-ca` for etcd alone (so that no cluster certificate opens the
database), `kueue-ca` for Kueue's webhooks, whose key lies in a Secret of the cluster.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from provision.files import write_atomically

AUTHORITY_LIFE = dt.timedelta(days=3650)
LEAF_LIFE = dt.timedelta(days=730)
RENEW_BEFORE = dt.timedelta(days=180)
BACKDATED = dt.timedelta(hours=1)

Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@dataclass(frozen=True, slots=True)
class Authority:
    """A CA: the files `<name>.crt` and `<name>.key`. `dns` is a SAN that Kueue's rotator wants."""

    name: str
    common_name: str
    organization: str = ""
    dns: str = ""
    is_rsa: bool = False


@dataclass(frozen=True, slots=True)
class Leaf:
    """A certificate of one party; `hosts` makes it good for a server, `is_client` for a client."""

    name: str
    authority: str
    common_name: str
    organization: str = ""
    hosts: tuple[str, ...] = ()
    is_client: bool = False
    is_rsa: bool = False


MASTERS = "system:masters"
LOOPBACK = ("127.0.0.1", "localhost")
# Kueue's rotator (open-policy-agent/cert-controller pkg/rotator) keeps a pair only when the CA has
# the SAN kueue-ca, the keys are RSA in PKCS#1 and the server certificate names the service.
KUEUE_SERVICE = "kueue-webhook-service.kueue-system.svc"
AUTHORITIES = (
    Authority("ca", "gpu-queue-lab-ca"),
    Authority("etcd-ca", "gpu-queue-lab-etcd-ca"),
    Authority("kueue-ca", "kueue-ca", organization="kueue", dns="kueue-ca", is_rsa=True),
)
LEAVES = (
    Leaf("etcd", "etcd-ca", "etcd", hosts=LOOPBACK, is_client=True),
    Leaf("etcd-client", "etcd-ca", "kube-apiserver", is_client=True),
    Leaf(
        "apiserver",
        "ca",
        "kube-apiserver",
        hosts=(*LOOPBACK, "10.96.0.1", "kubernetes", "kubernetes.default.svc"),
    ),
    Leaf("controller-manager", "ca", "kube-controller-manager", hosts=LOOPBACK),
    Leaf("scheduler", "ca", "kube-scheduler", hosts=LOOPBACK),
    Leaf("kwok", "ca", "kwok", hosts=LOOPBACK),
    Leaf("kueue-webhook", "kueue-ca", KUEUE_SERVICE, hosts=(KUEUE_SERVICE, *LOOPBACK), is_rsa=True),
    Leaf("admin", "ca", "lab-provision", MASTERS, is_client=True),
    Leaf("learner", "ca", "learner", MASTERS, is_client=True),
    Leaf("grader", "ca", "lab-grader", "lab-graders", is_client=True),
    Leaf("controller-manager-client", "ca", "kube-controller-manager", MASTERS, is_client=True),
    Leaf("scheduler-client", "ca", "system:kube-scheduler", is_client=True),
    Leaf("kwok-client", "ca", "kwok", MASTERS, is_client=True),
    Leaf("kueue-client", "ca", "kueue", MASTERS, is_client=True),
)


def ensure_certificates(
    pki: Path,
    *,
    now: dt.datetime,
    authorities: Iterable[Authority] = AUTHORITIES,
    leaves: Iterable[Leaf] = LEAVES,
) -> bool:
    """Make what is missing, broken or near its end below `pki`; True when anything was made.

    A new authority makes all of its leaves new. Keys have mode 0600, the folder 0700.
    """
    pki.mkdir(parents=True, exist_ok=True, mode=0o700)
    renewed: set[str] = set()
    for authority in authorities:
        if not _is_good(pki, authority.name, None, now):
            _make_authority(pki, authority, now)
            renewed.add(authority.name)
    made = bool(renewed)
    for leaf in leaves:
        if leaf.authority in renewed or not _is_good(pki, leaf.name, leaf.authority, now):
            _make_leaf(pki, leaf, now)
            made = True
    return _ensure_account_key(pki) or made


def _is_good(pki: Path, name: str, authority: str | None, now: dt.datetime) -> bool:
    try:
        certificate = _load_certificate(pki, name)
        key = _load_key(pki, name)
        certificate.verify_directly_issued_by(_load_certificate(pki, authority or name))
    except Exception:  # whatever is wrong with it, it is made anew
        return False
    is_pair = certificate.public_key() == key.public_key()
    return is_pair and certificate.not_valid_after_utc - now > RENEW_BEFORE


def _make_authority(pki: Path, authority: Authority, now: dt.datetime) -> None:
    key = _new_key(authority.is_rsa)
    name = _name(authority.common_name, authority.organization)
    builder = _builder(name, name, key, now, AUTHORITY_LIFE)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    builder = builder.add_extension(_usage(is_authority=True), critical=True)
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    builder = builder.add_extension(identifier, critical=False)
    if authority.dns:
        names = x509.SubjectAlternativeName([x509.DNSName(authority.dns)])
        builder = builder.add_extension(names, critical=False)
    _write(pki, authority.name, key, builder.sign(key, hashes.SHA256()))


def _make_leaf(pki: Path, leaf: Leaf, now: dt.datetime) -> None:
    issuer, issuer_key = _load_certificate(pki, leaf.authority), _load_key(pki, leaf.authority)
    key = _new_key(leaf.is_rsa)
    name = _name(leaf.common_name, leaf.organization)
    builder = _builder(name, issuer.subject, key, now, LEAF_LIFE)
    builder = builder.add_extension(
        x509.BasicConstraints(ca=False, path_length=None), critical=True
    )
    builder = builder.add_extension(_usage(is_authority=False), critical=True)
    uses = [ExtendedKeyUsageOID.SERVER_AUTH] if leaf.hosts else []
    uses += [ExtendedKeyUsageOID.CLIENT_AUTH] if leaf.is_client else []
    builder = builder.add_extension(x509.ExtendedKeyUsage(uses), critical=False)
    if leaf.hosts:
        names = x509.SubjectAlternativeName([_host(h) for h in leaf.hosts])
        builder = builder.add_extension(names, critical=False)
    _write(pki, leaf.name, key, builder.sign(issuer_key, hashes.SHA256()))


def _builder(
    subject: x509.Name, issuer: x509.Name, key: Key, now: dt.datetime, life: dt.timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATED)
        .not_valid_after(now + life)
    )


def _usage(*, is_authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_encipherment=True,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(common_name: str, organization: str) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
    if organization:
        attributes.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
    return x509.Name(attributes)


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _new_key(is_rsa: bool) -> Key:
    if is_rsa:
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return ec.generate_private_key(ec.SECP256R1())


def _key_bytes(key: Key) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,  # for RSA this is PKCS#1
        serialization.NoEncryption(),
    )


def _write(pki: Path, name: str, key: Key, certificate: x509.Certificate) -> None:
    write_atomically(pki / f"{name}.key", _key_bytes(key))
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    write_atomically(pki / f"{name}.crt", pem, mode=0o644)


def _ensure_account_key(pki: Path) -> bool:
    """The key pair that service account tokens are signed with."""
    private, public = pki / "service-accounts.key", pki / "service-accounts.pub"
    if private.exists() and public.exists():
        return False
    key = _new_key(is_rsa=False)
    pem = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    write_atomically(private, _key_bytes(key))
    write_atomically(public, pem, mode=0o644)
    return True


def _load_certificate(pki: Path, name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate((pki / f"{name}.crt").read_bytes())


def _load_key(pki: Path, name: str) -> Key:
    path = pki / f"{name}.key"
    key = serialization.load_pem_private_key(path.read_bytes(), None)
    if not isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise TypeError(f"{path}: {type(key).__name__}")
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
    return key
