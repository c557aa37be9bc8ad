"""ChatGPT: the node tree of a conversation, as messages in order with their parents."""

from __future__ import annotations

from typing import Any

from convcli.kit.objects import Native, as_text, has_content, omit
from convcli.kit.sessions import head_at, other_children, parents_first


class Tree:
    """The nodes under `mapping`. Nodes without a message, such as the root, are skipped.

    `order` has the ids of the nodes with a message: parents before their children, otherwise in file order.
    """

    def __init__(self, mapping: dict[str, Native]) -> None:
        self._mapping = mapping
        listed = {child: id_ for id_, node in mapping.items() for child in _children(node)}
        self._parents = {id_: _parent(node) or listed.get(id_) for id_, node in mapping.items()}
        nodes = parents_first(self._parents)
        self._above: dict[str, str | None] = {}
        for id_ in nodes:
            self._above[id_] = id_ if self._has_message(id_) else self._nearest(self._parents[id_])
        self.order = [id_ for id_ in nodes if self._has_message(id_)]

    def _has_message(self, id_: str) -> bool:
        return isinstance(self._mapping[id_].get("message"), dict)

    def _nearest(self, id_: str | None) -> str | None:
        """Returns the message of a node or the one above it; the id itself if there is no such node."""
        if id_ is None or id_ not in self._mapping or self._has_message(id_):
            return id_
        return self._above.get(id_)

    def parent(self, id_: str) -> str | None:
        """Returns the message before that of a node."""
        return self._nearest(self._parents[id_])

    def head(self, current: Any) -> str | None:
        """Returns the last message of the active branch: that of the current node. None if there is only one branch."""
        nearest = self._nearest(current) if isinstance(current, str) else None
        return head_at(nearest, [(id_, self.parent(id_)) for id_ in self.order])

    def extra(self) -> Native:
        """Returns the other keys of nodes without a message, by id."""
        rests = {id_: self.rest(id_) for id_ in self._mapping if not self._has_message(id_)}
        inner = {id_ for id_ in self._parents.values() if id_ is not None}
        for id_, rest in rests.items():
            if id_ not in inner and self._parents[id_] is not None:
                rest["parent"] = self._parents[id_]
        return {id_: rest for id_, rest in rests.items() if rest}

    def rest(self, id_: str) -> Native:
        """Returns the keys of a node other than its message and its place in the tree, and the children that it lists
        although they have another parent."""
        node = self._mapping[id_]
        rest = {**omit(node, "parent", "message"), "children": other_children(node.get("children"), id_, self._parents)}
        return {key: value for key, value in rest.items() if has_content(value) and (key, value) != ("id", id_)}


def _parent(node: Native) -> str | None:
    return as_text(node.get("parent"))


def _children(node: Native) -> list[str]:
    children = node.get("children")
    return [child for child in children if isinstance(child, str)] if isinstance(children, list) else []
