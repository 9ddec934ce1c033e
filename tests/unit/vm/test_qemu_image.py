"""Images are had once, kept under their checksum, and refused when they are not what was meant."""

import functools
import hashlib
import http.server
import os
import subprocess
import threading
from pathlib import Path

import pytest

from provision.vm.collecting.plan import cloud_image
from provision.vm.machines.qemu import image as qemu_image
from provision.vm.machines.qemu import tools as qemu_tools
from provision.vm.machines.qemu.command import Files, disk_arguments
from provision.vm.machines.qemu.image import FOLDER, disk_size, get_image
from provision.vm.machines.qemu.making import grow_disk, require_image
from provision.vm.machines.qemu.source import Source, image_name, wanted_source
from provision.vm.machines.qemu.state import QemuState
from provision.vm.machines.qemu.tools import find_tools, run_img
from provision.vm.settings import QemuSettings
from tests.unit.vm.qemu_fakes import needs_img, real_tools, refusal

HEX = "0123456789abcdef" * 4


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def qcow2(tmp_path):
    path = tmp_path / "debian.qcow2"
    run_img(real_tools(), "create", "-q", "-f", "qcow2", str(path), "64M")
    return path


@pytest.fixture
def web(tmp_path):
    """A web server for the files in a folder, and its address."""
    folder = tmp_path / "www"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield folder, f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def sum_of(path: Path, algorithm: str = "sha256") -> str:
    return f"{algorithm}:{hashlib.new(algorithm, path.read_bytes()).hexdigest()}"


def kept(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / FOLDER).iterdir())


def get(source: Source, cache: Path):
    return get_image(source, real_tools(), cache, {})


def test_the_pinned_image_is_the_default(tmp_path):
    pinned = cloud_image()
    source = wanted_source(QemuSettings(), tmp_path)
    assert (source.where, source.checksum) == (pinned.url, pinned.checksum)
    assert source.is_address
    assert source.name == f"sha512-{pinned.checksum.partition(':')[2][:32]}.img"


def test_a_path_counts_from_the_folder_and_needs_no_checksum(tmp_path):
    source = wanted_source(QemuSettings(image="a/b.img"), tmp_path)
    assert source == Source(str(tmp_path / "a/b.img"))
    assert not source.is_address


@pytest.mark.parametrize(
    ("text", "checksum"),
    [
        (f"sha256:{HEX}", f"sha256:{HEX}"),
        (f"SHA256:{HEX.upper()}", f"sha256:{HEX}"),
        (HEX, f"sha256:{HEX}"),
        (HEX * 2, f"sha512:{HEX * 2}"),
    ],
)
def test_a_checksum_is_read_as_people_write_it(tmp_path, text, checksum):
    found = wanted_source(QemuSettings(image="x", image_checksum=text), tmp_path)
    assert found.checksum == checksum


@pytest.mark.parametrize(
    "text", ["md5:" + HEX[:32], HEX[:-1], f"sha512:{HEX}", f"sha256:{HEX[:-1]}g", "sha256:", ":"]
)
def test_what_is_no_checksum_is_refused(tmp_path, text):
    settings = QemuSettings(image="x", image_checksum=text)
    words = refusal(lambda: wanted_source(settings, tmp_path), code=2)
    assert f"VM_IMAGE_CHECKSUM is {text}, which is no checksum." in words


def test_an_address_needs_a_checksum_and_a_checksum_an_image(tmp_path):
    address = QemuSettings(image="https://images.example/debian.qcow2")
    words = refusal(lambda: wanted_source(address, tmp_path), code=2)
    assert "an address, so its checksum must be known" in words
    lonely = QemuSettings(image_checksum=HEX)
    assert "VM_IMAGE is not" in refusal(lambda: wanted_source(lonely, tmp_path), code=2)


@needs_img
def test_a_file_is_copied_once_and_may_go_then(cache, qcow2):
    source = Source(str(qcow2), sum_of(qcow2, "sha512"))
    image = get(source, cache)
    assert (image.format, image.size) == ("qcow2", 64)
    assert image.path.stat().st_mode & 0o777 == 0o444
    qcow2.unlink()
    assert get(source, cache) == image
    assert kept(cache) == [source.name]


@needs_img
def test_a_file_without_a_checksum_is_kept_under_its_own(cache, qcow2):
    image = get(Source(str(qcow2)), cache)
    assert image.path.name == image_name(sum_of(qcow2))


@needs_img
def test_a_wrong_checksum_is_told_with_both_sums_and_nothing_is_kept(cache, qcow2):
    wanted = f"sha256:{HEX}"
    words = refusal(lambda: get(Source(str(qcow2), wanted), cache))
    assert sum_of(qcow2).partition(":")[2] in words
    assert HEX in words
    assert "mend VM_IMAGE_CHECKSUM" in words
    assert kept(cache) == []


@needs_img
def test_an_image_comes_from_an_address(cache, qcow2, web):
    folder, address = web
    (folder / "debian.qcow2").write_bytes(qcow2.read_bytes())
    source = Source(f"{address}/debian.qcow2", sum_of(qcow2, "sha512"))
    assert get(source, cache).path.name == source.name
    (folder / "debian.qcow2").unlink()
    assert get(source, cache).size == 64, "the second time nothing is fetched"


@needs_img
def test_a_wrong_checksum_of_an_address_keeps_nothing(cache, qcow2, web):
    folder, address = web
    (folder / "debian.qcow2").write_bytes(qcow2.read_bytes())
    words = refusal(lambda: get(Source(f"{address}/debian.qcow2", f"sha256:{HEX}"), cache))
    assert sum_of(qcow2).partition(":")[2] in words
    assert HEX in words
    assert "Nothing was kept." in words
    assert kept(cache) == []


@needs_img
def test_a_pinned_image_that_is_gone_is_followed_by_the_newest(cache, qcow2, web):
    folder, address = web
    (folder / "latest.qcow2").write_bytes(qcow2.read_bytes())
    digest = sum_of(qcow2, "sha512").partition(":")[2]
    (folder / "SHA512SUMS").write_text(f"{digest}  latest.qcow2\n")
    source = Source(
        f"{address}/dated.qcow2",
        f"sha512:{HEX * 2}",
        f"{address}/latest.qcow2",
        f"{address}/SHA512SUMS",
    )
    assert get(source, cache).path.name == image_name(f"sha512:{digest}")


@needs_img
def test_an_image_that_cannot_be_had_says_how_to_go_on(cache, web):
    _, address = web
    words = refusal(lambda: get(Source(f"{address}/none.qcow2", f"sha256:{HEX}"), cache))
    assert "404" in words
    assert f"VM_IMAGE=file VM_IMAGE_CHECKSUM=sha256:{HEX}" in words


@pytest.mark.parametrize("kind", ["nothing", "folder", "pipe", "unreadable"])
def test_what_is_no_file_is_refused_at_once(tmp_path, cache, kind):
    path = tmp_path / "image"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "unreadable":
        path.symlink_to(path)
    words = refusal(lambda: get(Source(str(path)), cache))
    assert f"The image {path} cannot be read" in words
    assert "Mend VM_IMAGE" in words
    assert kept(cache) == []


@pytest.mark.parametrize("name", ["a\0b", "~no-such-user/image", "x" * 300, "a\nb"])
def test_what_cannot_be_a_path_is_refused(tmp_path, cache, name):
    source = wanted_source(QemuSettings(image=name), tmp_path)
    assert "cannot be read" in refusal(lambda: get(source, cache))


@needs_img
@pytest.mark.parametrize("content", [b"", b"<html>not found</html>", bytes(4096)])
def test_what_is_no_disk_image_is_refused(tmp_path, cache, content):
    path = tmp_path / "image"
    path.write_bytes(content)
    words = refusal(lambda: get(Source(str(path), sum_of(path)), cache))
    assert "is no disk image that a machine could start from" in words
    assert kept(cache) == []


@needs_img
def test_a_raw_disk_that_can_start_is_taken(tmp_path, cache):
    path = tmp_path / "image"
    path.write_bytes(bytes(510) + b"\x55\xaa" + bytes(1 << 20))
    assert get(Source(str(path)), cache).format == "raw"


@needs_img
def test_an_image_that_lies_over_a_file_of_the_host_is_refused(tmp_path, cache, qcow2):
    path = tmp_path / "sly.qcow2"
    run_img(
        real_tools(),
        *("create", "-q", "-f", "qcow2", "-b", str(qcow2), "-F", "qcow2", str(path)),
    )
    assert "lies over another file" in refusal(lambda: get(Source(str(path)), cache))
    outside = tmp_path / "outside.qcow2"
    option = f"data_file={tmp_path / 'data'}"
    run_img(real_tools(), "create", "-q", "-f", "qcow2", "-o", option, str(outside), "1M")
    assert "lies over another file" in refusal(lambda: get(Source(str(outside)), cache))
    assert kept(cache) == []


def test_a_full_disk_is_told_before_anything_is_fetched(cache, monkeypatch):
    monkeypatch.setattr(qemu_image, "ROOM_BYTES", 1 << 60)
    words = refusal(lambda: get(Source("https://images.example/x", f"sha256:{HEX}"), cache))
    assert "needs 1099511627776 MiB of disk" in words
    assert "LAB_CACHE" in words


@needs_img
def test_a_lost_image_comes_again_when_it_is_the_same(cache, qcow2, tmp_path):
    source = Source(str(qcow2), sum_of(qcow2))
    image = get(source, cache)
    state = QemuState("id", image.path.name)
    image.path.unlink()
    require_image(state, source, real_tools(), cache, {})
    assert image.path.is_file()
    image.path.unlink()
    other = Source(str(qcow2), f"sha256:{HEX}")
    words = refusal(lambda: require_image(state, other, real_tools(), cache, {}))
    assert f"lies over the image {image.path}, which is gone" in words


@needs_img
def test_a_disk_lies_over_its_image_and_only_grows(cache, qcow2, tmp_path):
    image = get(Source(str(qcow2)), cache)
    files = Files(tmp_path)
    run_img(real_tools(), *disk_arguments(image, files.disk, 100))
    assert disk_size(files.disk, real_tools()) == 100
    assert grow_disk(files, 200, real_tools())
    assert disk_size(files.disk, real_tools()) == 200
    assert grow_disk(files, 200, real_tools())
    assert not grow_disk(files, 100, real_tools())
    assert disk_size(files.disk, real_tools()) == 200
    told = subprocess.run(
        ["qemu-img", "info", str(files.disk)], capture_output=True, text=True, check=True
    )
    assert str(image.path) in told.stdout


def test_a_controller_without_qemu_is_told_what_to_install(tmp_path):
    words = refusal(lambda: find_tools(str(tmp_path), "x86_64"))
    assert "There is no qemu-system-x86_64, qemu-img here" in words
    assert "apt-get install qemu-system-x86 qemu-utils" in words
    assert "VM=ssh HOST=user@host" in words


def test_another_processor_is_told(tmp_path):
    words = refusal(lambda: find_tools(str(tmp_path), "aarch64"))
    assert "this is aarch64" in words
    assert "VM=ssh HOST=user@host" in words


def test_a_qemu_img_that_fails_or_hangs_is_told(tmp_path, monkeypatch):
    script = tmp_path / "qemu-img"
    script.write_text(
        "#!/bin/sh\n[ $1 = info ] && exec sleep 60\necho 'No space left.' >&2\nexit 1\n"
    )
    script.chmod(0o755)
    tools = qemu_tools.Tools(script, script)
    assert "qemu-img failed: No space left" in refusal(lambda: run_img(tools, "create"))
    monkeypatch.setattr(qemu_tools, "IMG_SECONDS", 0.3)
    assert "timed out" in refusal(lambda: run_img(tools, "info"))
