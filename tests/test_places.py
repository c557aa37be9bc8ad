"""A loss is told at a place that its source document has, and at the node that it is about."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects, pipeline
from tests.support import Sample, acceptable, names

WRITTEN = [name for name in names() if dialects.get(name).lower is not None]


def steps(pointer: str) -> tuple[str, ...]:
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def has(document: Any, pointer: str) -> bool:
    """Does the document have the node? Steps into lists are numbers."""
    node = document
    for step in steps(pointer):
        if isinstance(node, dict) and step in node:
            node = node[step]
        elif isinstance(node, list) and step.isdecimal() and int(step) < len(node):
            node = node[int(step)]
        else:
            return False
    return True


@pytest.mark.parametrize("sample", acceptable(), ids=str)
def test_every_loss_points_at_a_node_of_the_source_or_at_a_key_invented_for_one(sample: Sample) -> None:
    source = dialects.get(sample.dialect)
    for target in WRITTEN:
        for loss in pipeline.convert(sample.document, source, dialects.get(target)).losses:
            around = loss.where.rpartition("/")[0] if loss.kind == "invented" else loss.where
            assert has(sample.document, around), f"{target}: {loss.kind} {loss.field} at {loss.where}"
