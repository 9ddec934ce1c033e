"""Fields of parsed manifests: one field by its path, or every place where a key stands.

The only module that imports jsonpath-ng.
"""

from __future__ import annotations

from collections.abc import Mapping

from checks.kit.expect import Path


class _Missing:
    """Stands for a field that is not there; None stands for a field that holds null."""

    def __bool__(self) -> bool:
        return False


MISSING = _Missing()


def dig(content: object, *path: str | int) -> object:
    """The value of a field, MISSING when it or anything above it is not there."""
    for part in path:
        if isinstance(part, int):
            if not isinstance(content, list) or not -len(content) <= part < len(content):
                return MISSING
            content = content[part]
        else:
            if not isinstance(content, Mapping) or part not in content:
                return MISSING
            content = content[part]
    return content


def dig_map(content: object, *path: str | int) -> Mapping[str, object]:
    """The map in a field, empty when there is none."""
    value = dig(content, *path)
    return value if isinstance(value, Mapping) else {}


def dig_list(content: object, *path: str | int) -> list[object]:
    """The list in a field, empty when there is none."""
    value = dig(content, *path)
    return value if isinstance(value, list) else []


def dig_text(content: object, *path: str | int) -> str:
    """The text in a field, empty when there is none."""
    value = dig(content, *path)
    return value if isinstance(value, str) else ""


def dig_count(content: object, *path: str | int) -> int:
    """The whole number in a field, 0 when there is none."""
    value = dig(content, *path)
    return value if isinstance(value, int) else 0


def dig_texts(content: object, *path: str | int) -> Mapping[str, str]:
    """The map of texts in a field, as labels are; empty when there is none."""
    return {key: str(value) for key, value in dig_map(content, *path).items()}


def places_of(content: object, key: str) -> tuple[Path, ...]:
    """The paths of all fields with this key, anywhere below."""
    from jsonpath_ng import Descendants, Fields, Root  # costs time; only failures need it

    found = Descendants(Root(), Fields(key)).find(content)
    return tuple(sorted({_as_path(match.full_path) for match in found}, key=repr))


def _as_path(expression: object) -> Path:
    from jsonpath_ng import Child, Fields, Index

    if isinstance(expression, Child):
        return _as_path(expression.left) + _as_path(expression.right)
    if isinstance(expression, Fields):
        return tuple(expression.fields)
    if isinstance(expression, Index):
        return tuple(expression.indices)
    return ()
