"""Packs the stand-in of k3s into one executable file, the same bytes for the same sources."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

SOURCES = Path(__file__).parent / "standin"
MARK = "@VERSION@"
FIRST_LINE = b"#!/usr/bin/env python3\n"


def pack_standin(version: str) -> bytes:
    """An archive that Python runs; `k3s --version` says `version`."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for source in sorted(SOURCES.glob("*.py")):
            info = zipfile.ZipInfo(source.name, date_time=(1980, 1, 1, 0, 0, 0))
            archive.writestr(info, source.read_text("utf-8").replace(MARK, version))
    return FIRST_LINE + packed.getvalue()
