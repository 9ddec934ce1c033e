from __future__ import annotations

import hashlib
import socket
from pathlib import Path

import pytest

from provision.vm.collecting.http import CHUNK, Patience, Web
from provision.vm.collecting.net import NotHad, proxy_for, require_safe
from provision.vm.collecting.sums import listed_sum
from tests.fakes.http_host import Answer, Host, digest, http_host

BODY = bytes(range(256)) * 5000
SUM = digest(BODY)
SHA256 = SUM.removeprefix("sha256:")


@pytest.fixture
def host():
    with http_host() as host:
        yield host


@pytest.fixture
def web():
    with Web({}, Patience(connect=2.0, read=1.0, pause=0.01)) as web:
        yield web


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_a_file_is_fetched_under_its_name(host: Host, web: Web, tmp_path: Path):
    url = host.serve("/k3s", BODY)
    assert web.download(url, tmp_path / "in" / "k3s", SUM) == SHA256
    assert (tmp_path / "in" / "k3s").read_bytes() == BODY
    assert names(tmp_path / "in") == ["k3s"]


def test_how_much_has_come_is_heard(host: Host, web: Web, tmp_path: Path):
    heard: list[tuple[int, int]] = []
    web.listen = lambda size, total: heard.append((size, total))
    host.routes["/k3s"] = lambda answer: answer.part(BODY, most=10 * CHUNK)
    web.download(host.url("/k3s"), tmp_path / "k3s", SUM)
    assert heard[0] == (CHUNK, len(BODY))
    assert heard[-1] == (len(BODY), len(BODY))
    assert [size for size, _ in heard] == sorted(size for size, _ in heard)


def test_a_sha512_is_checked_and_the_sha256_told(host: Host, web: Web, tmp_path: Path):
    url = host.serve("/image", BODY)
    right = f"sha512:{hashlib.sha512(BODY).hexdigest()}"
    assert web.download(url, tmp_path / "image", right) == SHA256
    with pytest.raises(NotHad, match=r"the sha512 of .*/image is \w+, but 0+ is wanted"):
        web.download(url, tmp_path / "other", f"sha512:{'0' * 128}")


def test_a_wrong_sum_leaves_nothing_behind(host: Host, web: Web, tmp_path: Path):
    url = host.serve("/k3s", BODY[:-1] + b"!")
    with pytest.raises(NotHad, match=f"/k3s is [0-9a-f]+, but {SHA256} is wanted") as caught:
        web.download(url, tmp_path / "k3s", SUM)
    assert caught.value.is_wrong
    assert names(tmp_path) == []


def test_a_transfer_that_breaks_off_is_gone_on_with(host: Host, web: Web, tmp_path: Path):
    host.routes["/k3s"] = lambda answer: answer.part(BODY, most=5 * CHUNK)
    assert web.download(host.url("/k3s"), tmp_path / "k3s", SUM) == SHA256
    assert len(host.asked) == 4


def test_a_later_run_goes_on_where_an_earlier_one_broke_off(host: Host, web: Web, tmp_path: Path):
    host.routes["/k3s"] = lambda a: a.part(BODY, most=CHUNK if len(host.asked) < 3 else 0)
    with pytest.raises(NotHad, match="the connection broke off"):
        web.download(host.url("/k3s"), tmp_path / "k3s", SUM)
    (part,) = tmp_path.iterdir()
    assert part.name.endswith(".part")
    assert part.stat().st_size == 2 * CHUNK
    sizes: list[str] = []

    def rest(answer: Answer) -> None:
        sizes.append(answer.headers["Range"])
        answer.part(BODY, most=len(BODY))

    host.routes["/k3s"] = rest
    assert web.download(host.url("/k3s"), tmp_path / "k3s", SUM) == SHA256
    assert sizes == [f"bytes={2 * CHUNK}-"]
    assert names(tmp_path) == ["k3s"]


def test_a_server_that_knows_no_ranges_sends_all_again(host: Host, web: Web, tmp_path: Path):
    (tmp_path / f".k3s.{SHA256[:12]}.part").write_bytes(b"x" * 1000)
    url = host.serve("/k3s", BODY)
    assert web.download(url, tmp_path / "k3s", SUM) == SHA256


def test_a_garbled_rest_of_an_earlier_run_is_not_the_end(host: Host, web: Web, tmp_path: Path):
    (tmp_path / f".k3s.{SHA256[:12]}.part").write_bytes(b"x" * 1000)
    host.routes["/k3s"] = lambda answer: answer.part(BODY, most=len(BODY))
    assert web.download(host.url("/k3s"), tmp_path / "k3s", SUM) == SHA256


def test_what_is_whole_already_is_only_checked(host: Host, web: Web, tmp_path: Path):
    (tmp_path / f".k3s.{SHA256[:12]}.part").write_bytes(BODY)
    host.routes["/k3s"] = lambda answer: answer.part(BODY, most=len(BODY))
    assert web.download(host.url("/k3s"), tmp_path / "k3s", SUM) == SHA256


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_asked_again(host: Host, web: Web, tmp_path: Path, status: int):
    def busy(answer: Answer) -> None:
        if len(host.asked) < 3:
            answer.whole(b"later", status=status, Retry_After="3600")
        else:
            answer.whole(BODY)

    host.routes["/k3s"] = busy
    assert web.download(host.url("/k3s"), tmp_path / "k3s", SUM) == SHA256


def test_a_server_that_stays_busy_is_told_of(host: Host, web: Web, tmp_path: Path):
    url = host.serve("/k3s", b"later", status=429)
    with pytest.raises(NotHad, match="/k3s answers 429"):
        web.download(url, tmp_path / "k3s", SUM)
    assert len(host.asked) == 5
    assert names(tmp_path) == []


def test_what_is_gone_is_said_to_be_gone(host: Host, web: Web, tmp_path: Path):
    with pytest.raises(NotHad, match="answers 404") as caught:
        web.download(host.url("/old"), tmp_path / "old", SUM)
    assert caught.value.is_gone


@pytest.mark.timeout(20)
def test_a_server_that_says_nothing_is_not_waited_for(host: Host, web: Web, tmp_path: Path):
    host.routes["/k3s"] = lambda answer: host.over.wait(30)
    with pytest.raises(NotHad, match="does not answer in time"):
        web.download(host.url("/k3s"), tmp_path / "k3s", SUM)


@pytest.mark.timeout(20)
def test_a_transfer_that_stands_still_is_not_waited_for(host: Host, web: Web, tmp_path: Path):
    def stuck(answer: Answer) -> None:
        answer.send_response(200)
        answer.send_header("Content-Length", str(len(BODY)))
        answer.end_headers()
        host.over.wait(30)

    host.routes["/k3s"] = stuck
    with pytest.raises(NotHad, match="/k3s: it does not answer in time"):
        web.download(host.url("/k3s"), tmp_path / "k3s", SUM)


def test_a_move_is_followed_and_the_token_stays_behind(host: Host, web: Web, tmp_path: Path):
    seen: list[str | None] = []

    def blob(answer: Answer) -> None:
        seen.append(answer.headers.get("Authorization"))
        answer.whole(BODY)

    with http_host() as elsewhere:
        elsewhere.routes["/store"] = blob
        host.serve("/blob", b"", status=307, Location=elsewhere.url("/store"))
        host.serve("/start", b"", status=302, Location="/blob")
        headers = {"Authorization": "Bearer secret"}
        assert web.download(host.url("/start"), tmp_path / "b", SUM, headers) == SHA256
    assert seen == [None]


def test_a_circle_of_moves_ends(host: Host, web: Web):
    host.serve("/a", b"", status=302, Location="/a")
    with pytest.raises(NotHad, match="leads in a circle"):
        web.small(host.url("/a"))


def test_a_move_to_plain_http_is_refused(host: Host, web: Web):
    host.serve("/a", b"", status=302, Location="http://example.org/k3s")
    with pytest.raises(NotHad, match=r"http://example.org/k3s is not HTTPS"):
        web.small(host.url("/a"))


def test_a_host_that_cannot_be_reached_is_asked_once(web: Web, tmp_path: Path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/k3s"
        for _ in range(2):
            with pytest.raises(NotHad, match="it cannot be reached"):
                web.download(url, tmp_path / "k3s", SUM)


def test_a_document_without_end_is_not_read_to_it(host: Host, web: Web):
    url = host.serve("/sums", b"x" * (5 << 20))
    with pytest.raises(NotHad, match=r"what http.* sends is too large"):
        web.small(url)


def test_a_published_sum_is_read(host: Host, web: Web):
    url = host.serve("/sums", f"{SHA256}  k3s\n{'0' * 64}  k3s-arm64\n".encode())
    assert web.published_sum(url, "k3s") == SUM
    with pytest.raises(NotHad, match="has no checksum of k3s-armhf"):
        web.published_sum(url, "k3s-armhf")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{SHA256}  k3s\n", SUM),
        (f"{SHA256.upper()} *./k3s\n", SUM),
        (f"{'1' * 128}  k3s", f"sha512:{'1' * 128}"),
        (f"{SHA256}  k3s-images\n", ""),
        (f"{SHA256}  k3s\n{'0' * 64}  k3s\n", ""),
        (f'{{"assets": [{{"name": "k3s", "digest": "{SUM}"}}]}}', SUM),
        ('{"assets": [{"name": "k3s", "digest": null}]}', ""),
        ('{"assets": [{"name": "k3s", "digest": "md5:00"}]}', ""),
        ('{"message": "rate limit"}', ""),
        ("{", ""),
        ("", ""),
    ],
)
def test_sums_are_read_out_of_lists_and_records(text: str, found: str):
    assert listed_sum(text, "k3s") == found


@pytest.mark.parametrize(
    ("environ", "url", "proxy"),
    [
        ({}, "https://a.example/x", ""),
        ({"HTTPS_PROXY": "http://p:3128"}, "https://a.example/x", "http://p:3128"),
        ({"https_proxy": "p:3128", "HTTPS_PROXY": "q:1"}, "https://a.example/x", "http://p:3128"),
        ({"ALL_PROXY": "http://p:1"}, "https://a.example/x", "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "b.org, .example"}, "https://a.example/x", ""),
        ({"HTTPS_PROXY": "http://p:1", "no_proxy": "*"}, "https://a.example/x", ""),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "le"}, "https://a.example/x", "http://p:1"),
        ({"HTTP_PROXY": "http://p:1"}, "http://127.0.0.1:80/x", ""),
    ],
)
def test_the_proxy_is_that_of_the_environment(environ: dict, url: str, proxy: str):
    assert proxy_for(url, environ) == proxy


@pytest.mark.parametrize("url", ["http://example.org/", "ftp://x/", "file:///etc/passwd", "x", ""])
def test_only_https_leaves_this_machine(url: str):
    with pytest.raises(NotHad, match="is not HTTPS"):
        require_safe(url)
