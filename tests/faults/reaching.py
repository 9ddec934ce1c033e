"""Faults on the way to the API server: kubeconfigs, certificates, and what answers."""

from __future__ import annotations

import base64
import contextlib
import datetime as dt
from collections.abc import Iterator

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.faults.site import Injection, Site, Way

NOBODY_LISTENS = 1  # a port of loopback


def spoiled(mode: str) -> Injection:
    """An API server whose answers are spoiled; see tests.faults.proxy."""

    @contextlib.contextmanager
    def inject(site: Site) -> Iterator[Way]:
        with site.behind_proxy(mode):
            yield Way()

    return inject


@contextlib.contextmanager
def without_learner_kubeconfig(site: Site) -> Iterator[Way]:
    """The learner's kubeconfig is gone."""
    with site.replaced(site.kubeconfig, None):
        yield Way()


@contextlib.contextmanager
def without_grader_kubeconfig(site: Site) -> Iterator[Way]:
    """The kubeconfig of the checks is gone."""
    with site.replaced(site.grader_kubeconfig, None):
        yield Way()


@contextlib.contextmanager
def other_server(site: Site) -> Iterator[Way]:
    """The learner's kubeconfig names another cluster: what was done there is not seen here."""
    config = yaml.safe_load(site.kubeconfig.read_text("utf-8"))
    config["clusters"][0]["cluster"]["server"] = "https://10.0.0.1:6443"
    with site.replaced(site.kubeconfig, yaml.safe_dump(config).encode()):
        yield Way()


@contextlib.contextmanager
def other_cluster(site: Site) -> Iterator[Way]:
    """Both kubeconfigs trust another authority, as those of another place of the same lab do."""
    other = base64.b64encode((site.pki / "etcd-ca.crt").read_bytes()).decode()

    def moved(text: str) -> bytes:
        config = yaml.safe_load(text)
        config["clusters"][0]["cluster"]["certificate-authority-data"] = other
        return yaml.safe_dump(config).encode()

    with contextlib.ExitStack() as stack:
        for file in (site.kubeconfig, site.grader_kubeconfig):
            stack.enter_context(site.replaced(file, moved(file.read_text("utf-8"))))
        yield Way()


def certificate_of(first: int, last: int) -> Injection:
    """The grader's certificate holds from `first` to `last`, in days from now."""

    @contextlib.contextmanager
    def inject(site: Site) -> Iterator[Way]:
        config = yaml.safe_load(site.grader_kubeconfig.read_text("utf-8"))
        certificate, key = _signed(site, dt.timedelta(days=first), dt.timedelta(days=last))
        user = config["users"][0]["user"]
        user["client-certificate-data"] = base64.b64encode(certificate).decode()
        user["client-key-data"] = base64.b64encode(key).decode()
        with site.replaced(site.grader_kubeconfig, yaml.safe_dump(config).encode()):
            yield Way()

    return inject


def _signed(site: Site, first: dt.timedelta, last: dt.timedelta) -> tuple[bytes, bytes]:
    """A certificate with the grader's name, by the place's own authority, and its key."""
    grader = x509.load_pem_x509_certificate((site.pki / "grader.crt").read_bytes())
    authority = x509.load_pem_x509_certificate((site.pki / "ca.crt").read_bytes())
    authority_key = serialization.load_pem_private_key((site.pki / "ca.key").read_bytes(), None)
    assert isinstance(authority_key, ec.EllipticCurvePrivateKey)
    key, now = ec.generate_private_key(ec.SECP256R1()), dt.datetime.now(dt.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(grader.subject)
        .issuer_name(authority.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + first)
        .not_valid_after(now + last)
    )
    for extension in grader.extensions:
        if not isinstance(extension.value, x509.SubjectKeyIdentifier):
            builder = builder.add_extension(extension.value, extension.critical)
    return (
        builder.sign(authority_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )
