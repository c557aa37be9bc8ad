"""Why a loss is one: the target's own words, and words for any target only where they are true."""

from __future__ import annotations

import pytest

from convcli import dialects
from convcli.model.dialect import Dialect
from convcli.proof.reasons import REASONS, reason_of


@pytest.mark.parametrize("dialect", dialects.builtin(), ids=lambda dialect: dialect.name)
def test_metadata_of_a_request_are_not_what_a_provider_bound_to_a_part(dialect: Dialect) -> None:
    of_a_part = {REASONS["metadata"], dialect.reasons.get("metadata")}
    assert reason_of("dropped", "settings.metadata", dialect) not in of_a_part
