from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, ExtensionOID

from provision.local.certificates import AUTHORITIES, LEAVES, ensure_certificates

NOW = dt.datetime(2026, 11, 30, tzinfo=dt.UTC)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pki = tmp_path_factory.mktemp("pki")
    ensure_certificates(pki, now=NOW)
    return pki


def load(pki: Path, name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate((pki / f"{name}.crt").read_bytes())


def extension(certificate: x509.Certificate, oid: x509.ObjectIdentifier):
    return certificate.extensions.get_extension_for_oid(oid).value


def test_second_call_changes_nothing(made: Path):
    before = {p.name: p.read_bytes() for p in made.iterdir()}
    assert not ensure_certificates(made, now=NOW)
    assert before == {p.name: p.read_bytes() for p in made.iterdir()}


def test_keys_are_private(made: Path):
    assert {p.stat().st_mode & 0o777 for p in made.glob("*.key")} == {0o600}
    assert len(list(made.glob("*.key"))) == len(AUTHORITIES) + len(LEAVES) + 1


def test_loose_key_is_closed_again(made: Path):
    (made / "admin.key").chmod(0o644)
    ensure_certificates(made, now=NOW)
    assert (made / "admin.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.name)
def test_every_leaf_is_signed_by_its_authority_alone(made: Path, leaf):
    certificate = load(made, leaf.name)
    certificate.verify_directly_issued_by(load(made, leaf.authority))
    for other in AUTHORITIES:
        if other.name != leaf.authority:
            with pytest.raises(Exception):  # noqa: B017, PT011 - several kinds, all say no
                certificate.verify_directly_issued_by(load(made, other.name))


def test_kueue_pair_is_what_its_rotator_wants(made: Path):
    authority, server = load(made, "kueue-ca"), load(made, "kueue-webhook")
    names = extension(authority, ExtensionOID.SUBJECT_ALTERNATIVE_NAME)
    assert names.get_values_for_type(x509.DNSName) == ["kueue-ca"]
    served = extension(server, ExtensionOID.SUBJECT_ALTERNATIVE_NAME)
    assert "kueue-webhook-service.kueue-system.svc" in served.get_values_for_type(x509.DNSName)
    assert [str(a) for a in served.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]
    uses = extension(server, ExtensionOID.EXTENDED_KEY_USAGE)
    assert list(uses) == [ExtendedKeyUsageOID.SERVER_AUTH]
    for name in ("kueue-ca", "kueue-webhook"):
        assert (made / f"{name}.key").read_text().startswith("-----BEGIN RSA PRIVATE KEY-----")


def test_grader_is_in_no_powerful_group(made: Path):
    names = load(made, "grader").subject.rfc4514_string()
    assert names == "CN=lab-grader,O=lab-graders"


def test_near_its_end_a_leaf_is_renewed_and_authorities_stay(tmp_path: Path):
    ensure_certificates(tmp_path, now=NOW)
    authority = (tmp_path / "ca.crt").read_bytes()
    later = NOW + dt.timedelta(days=600)
    assert ensure_certificates(tmp_path, now=later)
    assert (tmp_path / "ca.crt").read_bytes() == authority
    assert load(tmp_path, "admin").not_valid_after_utc > later + dt.timedelta(days=700)
    assert not ensure_certificates(tmp_path, now=later)


def test_new_authority_makes_new_leaves(tmp_path: Path):
    ensure_certificates(tmp_path, now=NOW)
    etcd, admin = (tmp_path / "etcd.crt").read_bytes(), (tmp_path / "admin.crt").read_bytes()
    (tmp_path / "etcd-ca.key").unlink()
    assert ensure_certificates(tmp_path, now=NOW)
    assert (tmp_path / "etcd.crt").read_bytes() != etcd
    assert (tmp_path / "admin.crt").read_bytes() == admin


@pytest.mark.parametrize("content", [b"", b"half a certif", b"\xff\xfe"])
def test_broken_file_is_made_anew(tmp_path: Path, content: bytes):
    ensure_certificates(tmp_path, now=NOW)
    (tmp_path / "learner.crt").write_bytes(content)
    assert ensure_certificates(tmp_path, now=NOW)
    assert not ensure_certificates(tmp_path, now=NOW)


def test_key_of_another_certificate_is_noticed(tmp_path: Path):
    ensure_certificates(tmp_path, now=NOW)
    (tmp_path / "learner.key").write_bytes((tmp_path / "grader.key").read_bytes())
    assert ensure_certificates(tmp_path, now=NOW)
