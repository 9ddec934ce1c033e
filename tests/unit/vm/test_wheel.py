"""The wheel that a machine gets: what is in it, what is not, and that it is the same each time."""

import zipfile

import pytest

from lab.web.assets import assets_folder
from provision.errors import TargetError
from provision.vm.wheel import build_wheel, page_assets


@pytest.fixture(scope="module")
def assets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("assets")
    for name in ("xterm.mjs", "xterm.css", "xterm.LICENSE", "addon-fit.mjs", "addon-fit.LICENSE"):
        (folder / name).write_text(f"// {name}\n")
    return folder


@pytest.fixture(scope="module")
def wheel(assets, tmp_path_factory):
    return build_wheel(tmp_path_factory.mktemp("wheel"), assets)


def test_holds_the_program_its_catalog_and_the_terminal(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    for name in (
        "lab/__main__.py",
        "checks/kueue_quota/test_step_1_flavor.py",
        "provision/local/data/grader-role.yaml",
        "lab/locale/ko/LC_MESSAGES/lab.mo",
        "lab/web/xterm/xterm.mjs",
        "lab/web/static/main.js",
        "lab/content/kueue_quota/lab.yaml",
    ):
        assert name in names


def test_holds_neither_answers_nor_tests(wheel):
    for name in zipfile.ZipFile(wheel).namelist():
        assert not name.startswith(("solutions", "tests", "docs")), name
        assert "__pycache__" not in name


def test_the_same_sources_give_the_same_bytes(wheel, assets, tmp_path):
    assert build_wheel(tmp_path, assets).read_bytes() == wheel.read_bytes()


def test_without_the_terminal_nothing_is_built(tmp_path):
    (tmp_path / "none").mkdir()
    with pytest.raises(TargetError) as caught:
        build_wheel(tmp_path / "out", tmp_path / "none")
    assert "xterm.js" in str(caught.value.what)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_no_project_is_refused(assets, tmp_path):
    with pytest.raises(TargetError) as caught:
        build_wheel(tmp_path / "out", assets, project=tmp_path)
    assert "project's folder" in str(caught.value.what)


def test_the_terminal_is_looked_for_where_the_page_keeps_it(tmp_path):
    assert page_assets(tmp_path) == assets_folder(tmp_path)
