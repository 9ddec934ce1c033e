"""The scene, and patience for what is on its way in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from checks.kit.expect import Patience
from checks.scene import Scene

T = TypeVar("T")


class Watch:
    """The scene, and waiting for what is on its way in it."""

    def __init__(self, scene: Scene, patience: Patience) -> None:
        self.scene = scene
        self._patience = patience

    def until(self, judge: Callable[[Scene], T]) -> T:
        """What `judge` returns for the scene, looked at again while it says that it is coming."""
        return self._patience.watch(lambda: judge(self.scene), afresh=self.scene.cluster.look_again)
