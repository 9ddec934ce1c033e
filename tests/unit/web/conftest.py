"""A place of files only, as the page's data are read from it."""

from types import SimpleNamespace

import pytest

from lab.catalog import load_lab
from lab.places import Place


@pytest.fixture
def place(tmp_path):
    workspace = tmp_path / "work"
    workspace.mkdir()
    return Place(load_lab("kueue_quota"), tmp_path / "home", workspace, SimpleNamespace())
