"""Builds a generateContent dialect: everything except its name and role rules is the same for every service."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from convcli.families.google import document as documents
from convcli.families.google import places
from convcli.families.google.clean import without_clean_contents
from convcli.families.google.fitting import fit
from convcli.families.google.keys import Service
from convcli.families.google.rules import rules
from convcli.model.dialect import Dialect, Evidence
from convcli.model.rule import Rule


def dialect(
    service: Service,
    title: str,
    specification: str,
    *of_roles: Rule,
    aliases: tuple[str, ...] = (),
    detect: Callable[[Any], Evidence | None] | None = None,
) -> Dialect:
    """Returns the dialect of a service's requests, responses and content lists."""
    return Dialect(
        name=service.name,
        title=title,
        aliases=aliases,
        specification=specification,
        framings=("document", "records"),
        forms=("request", "response", "list"),
        detect=detect,
        lift=partial(documents.lift, service=service),
        fit=fit(service),
        write=partial(documents.write, service=service),
        form_of=partial(documents.form_of, owner=service.owner),
        rules=rules(service, *of_roles),
        without_clean_messages=partial(without_clean_contents, service=service),
        conventions=places.CONVENTIONS,
        supports=_supports(service),
        reasons=places.LOSSES,
        places=places.PLACES,
        envelope=places.ENVELOPE,
        repeats=places.REPEATS,
        family=service.owner,
    )


def _supports(service: Service) -> dict[str, frozenset[str]]:
    tier = set() if f"request.{documents.TIER}" in service.unsupported else {"settings.serviceTier"}
    return {form: names | (tier if form == "request" else set()) for form, names in places.SUPPORTS_BY_FORM.items()}
