from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from provision.vm.collecting.http import Patience, Web
from provision.vm.collecting.images import pull_chart, pull_image
from provision.vm.collecting.net import NotHad
from provision.vm.collecting.oci import CHART_LAYER, Reference, Registry
from tests.fakes.http_host import Answer, FakeRegistry, digest, http_host

AMD64 = "linux/amd64"
LAYERS = [b"first layer" * 100, b"second layer" * 100, b"first layer" * 100]


@pytest.fixture
def fake():
    with http_host() as host:
        yield FakeRegistry(host)


@pytest.fixture
def registry():
    with Web({}, Patience(connect=2.0, read=1.0, pause=0.01)) as web:
        yield Registry(web)


def content(file: Path) -> dict[str, bytes]:
    with tarfile.open(file) as tar:
        return {m.name: tar.extractfile(m).read() for m in tar.getmembers()}


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("docker.io/library/busybox:1.36", "https://registry-1.docker.io/v2/library/busybox"),
        ("registry.k8s.io/kueue/kueue:v1", "https://registry.k8s.io/v2/kueue/kueue"),
        ("127.0.0.1:5000/a/b:1", "http://127.0.0.1:5000/v2/a/b"),
    ],
)
def test_a_reference_has_an_address(name: str, base: str):
    assert Reference.of(name).base == base
    assert str(Reference.of(name)) == name


@pytest.mark.parametrize("name", ["busybox", "busybox:1.36", "a/b", "127.0.0.1:5000/a", ""])
def test_a_name_without_host_or_tag_is_no_reference(name: str):
    with pytest.raises(ValueError, match=r".*"):
        Reference.of(name)


def test_an_image_becomes_a_tar_in_both_layouts(fake: FakeRegistry, registry, tmp_path: Path):
    index = fake.push("library/busybox", "1.36", LAYERS)
    reference = Reference.of(fake.name("library/busybox", "1.36"))
    out = tmp_path / "images" / "busybox.tar"
    sha256 = pull_image(registry, reference, AMD64, index, out)
    assert sha256 == digest(out.read_bytes()).removeprefix("sha256:")
    files = content(out)
    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    (entry,) = json.loads(files["index.json"])["manifests"]
    assert entry["annotations"]["io.containerd.image.name"] == str(reference)
    assert entry["annotations"]["org.opencontainers.image.ref.name"] == "1.36"
    manifest = files[f"blobs/sha256/{entry['digest'].removeprefix('sha256:')}"]
    assert len(manifest) == entry["size"]
    named = [json.loads(manifest)["config"], *json.loads(manifest)["layers"]]
    for blob in named:
        body = files[f"blobs/sha256/{blob['digest'].removeprefix('sha256:')}"]
        assert digest(body) == blob["digest"]
        assert len(body) == blob["size"]
    (docker,) = json.loads(files["manifest.json"])
    assert docker["RepoTags"] == [str(reference)]
    assert [files[layer] for layer in docker["Layers"]] == LAYERS
    assert json.loads(files[docker["Config"]])["architecture"] == "amd64"
    assert [p.name for p in out.parent.iterdir()] == ["busybox.tar"]


def test_the_same_image_gives_the_same_bytes(fake: FakeRegistry, registry, tmp_path: Path):
    fake.push("a", "1", LAYERS)
    reference = Reference.of(fake.name("a", "1"))
    sums = {pull_image(registry, reference, AMD64, "", tmp_path / f"{n}.tar") for n in range(2)}
    assert len(sums) == 1


def test_layers_of_a_broken_run_are_not_asked_for_again(
    fake: FakeRegistry, registry, tmp_path: Path
):
    fake.push("a", "1", LAYERS)
    reference = Reference.of(fake.name("a", "1"))
    last = f"/v2/a/blobs/{digest(LAYERS[1])}"
    route = fake.host.routes.pop(last)
    with pytest.raises(NotHad, match="answers 404"):
        pull_image(registry, reference, AMD64, "", tmp_path / "a.tar")
    assert not (tmp_path / "a.tar").exists()
    fake.host.routes[last] = route
    fake.host.asked.clear()
    pull_image(registry, reference, AMD64, "", tmp_path / "a.tar")
    assert [path for path in fake.host.asked if "/blobs/" in path] == [last]


def test_another_digest_than_the_pinned_one_is_refused(
    fake: FakeRegistry, registry, tmp_path: Path
):
    pinned = fake.push("a", "1", LAYERS)
    fake.push("a", "1", [b"other"])
    path = f"/v2/a/manifests/{pinned}"
    fake.host.routes[path] = fake.host.routes["/v2/a/manifests/1"]
    with pytest.raises(NotHad, match=r"the sha256 of .*/manifests/sha256:.* is wanted"):
        pull_image(registry, Reference.of(fake.name("a", "1")), AMD64, pinned, tmp_path / "a.tar")
    assert list(tmp_path.iterdir()) == []


def test_a_token_that_has_run_out_is_replaced(fake: FakeRegistry, registry, tmp_path: Path):
    fake.push("a", "1", LAYERS)
    path = f"/v2/a/blobs/{digest(LAYERS[1])}"
    right = fake.host.routes[path]

    def run_out(answer: Answer) -> None:
        fake.token = "another"
        fake.host.routes[path] = right
        right(answer)

    fake.host.routes[path] = run_out
    pull_image(registry, Reference.of(fake.name("a", "1")), AMD64, "", tmp_path / "a.tar")
    assert fake.host.asked.count(path) == 2
    assert len([p for p in fake.host.asked if p.startswith("/token")]) == 2


def test_an_altered_layer_is_refused(fake: FakeRegistry, registry, tmp_path: Path):
    fake.push("a", "1", LAYERS)
    path = f"/v2/a/blobs/{digest(LAYERS[0])}"
    fake.host.routes[path] = fake.guard(lambda a: a.whole(b"something else"), "a")
    with pytest.raises(NotHad, match=r"the sha256 of .*/blobs/.* is wanted"):
        pull_image(registry, Reference.of(fake.name("a", "1")), AMD64, "", tmp_path / "a.tar")
    assert not (tmp_path / "a.tar").exists()


def test_a_platform_that_is_not_there_is_named(fake: FakeRegistry, registry, tmp_path: Path):
    fake.push("a", "1", LAYERS)
    with pytest.raises(NotHad, match="a:1 is not there for linux/riscv64"):
        pull_image(
            registry, Reference.of(fake.name("a", "1")), "linux/riscv64", "", tmp_path / "a.tar"
        )


def test_a_tag_that_is_not_there_is_said_so(fake: FakeRegistry, registry, tmp_path: Path):
    fake.push("a", "1", LAYERS)
    with pytest.raises(NotHad, match="manifests/2 answers 404"):
        pull_image(registry, Reference.of(fake.name("a", "2")), AMD64, "", tmp_path / "a.tar")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"layers": 1}',
        b'{"manifests": [1]}',
        b'{"layers": [{}]}',
        b'{"config": {"digest": "sha256:../../x", "size": 1}, "layers": []}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_image_is_refused(fake: FakeRegistry, registry, tmp_path: Path, body: bytes):
    fake.host.serve("/v2/a/manifests/1", body)
    with pytest.raises(NotHad, match=r"answers what is no image"):
        pull_image(registry, Reference.of(fake.name("a", "1")), AMD64, "", tmp_path / "a.tar")


@pytest.mark.parametrize("challenge", ["", "Basic realm=x", 'Bearer realm="http://example.org/"'])
def test_a_registry_that_wants_a_login_is_said_so(
    fake: FakeRegistry, registry, tmp_path: Path, challenge: str
):
    fake.host.serve("/v2/a/manifests/1", b"{}", status=401, WWW_Authenticate=challenge)
    with pytest.raises(NotHad, match=r"wants a login|is not HTTPS"):
        pull_image(registry, Reference.of(fake.name("a", "1")), AMD64, "", tmp_path / "a.tar")


def test_a_chart_is_the_layer_that_is_one(fake: FakeRegistry, registry, tmp_path: Path):
    out = tmp_path / "charts" / "x.tgz"
    fake.push("charts/x", "0.2.0", [b"a chart"], kind=CHART_LAYER)
    reference = Reference.of(fake.name("charts/x", "0.2.0"))
    assert pull_chart(registry, reference, AMD64, "", out) == digest(b"a chart")[7:]
    assert out.read_bytes() == b"a chart"
    fake.push("charts/x", "0.2.0", [b"a layer"])
    with pytest.raises(NotHad, match="is no chart"):
        pull_chart(registry, reference, AMD64, "", out)


def test_a_tar_of_an_image_is_plain(fake: FakeRegistry, registry, tmp_path: Path):
    fake.push("a", "1", LAYERS)
    out = tmp_path / "a.tar"
    pull_image(registry, Reference.of(fake.name("a", "1")), AMD64, "", out)
    with tarfile.open(fileobj=io.BytesIO(out.read_bytes())) as tar:
        assert all(m.isfile() and m.mtime == 0 and m.uid == 0 for m in tar.getmembers())
