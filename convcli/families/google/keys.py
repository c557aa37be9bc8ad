"""What the Gemini API and Vertex AI share: the case of keys, and the record of what differs between two services.

Both say the same things in the same words but for a few; what only Google can say rides in `extras` under the name of
the owner of the service, so that it goes from one to the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from types import NoneType
from typing import Any, NamedTuple

from convcli.kit.lacking import fields
from convcli.kit.objects import Keys, Native, as_object, carried_by
from convcli.kit.renaming import LETTERS, WORD, Alphabet
from convcli.model.transcript import Extras, Origin, Transcript

CHOICE = "choice_"
"""How the ids begin that the candidates of one response get."""

INNER_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


class Shape:
    """The keys of one kind of object, which may be written in snake case too.

    `name` is the key under which such an object stands. Keys in `carried` have no field in the intermediate format,
    those in `partly` only sometimes: only these and unknown keys come from extras; all where nothing is said of it.
    """

    __slots__ = ("_camel", "_free", "_keys", "_says_all", "known", "name")

    def __init__(self, name: str, order: str, *, carried: str = "", partly: str = "") -> None:
        self.name = name
        self._free = fields(f"{carried} {partly}") or fields(order)
        self._keys = Keys(order, carried=carried)
        self.known = fields(order)
        self._camel = {snake(key): key for key in self.known if snake(key) != key}
        said = self.known - fields(carried)
        self._says_all: Callable[[tuple[str, ...]], bool] = lru_cache(maxsize=1024)(said.issuperset)
        """By the keys of an object: has the intermediate format a field for each, and is it in camel case?"""

    def camel(self, native: Native) -> tuple[Native, list[str]]:
        """The object in camel case, and the keys that were not; a key that stands there in both cases keeps its own."""
        if self._camel.keys().isdisjoint(native):
            return native, []
        renamed = {key: self._camel[key] for key in native if key in self._camel and self._camel[key] not in native}
        return {renamed.get(key, key): value for key, value in native.items()}, list(renamed.values())

    def read(self, native: Native, origin: Origin) -> tuple[Native, Native]:
        """The object in camel case, and what must be carried, in Google's order.

        Where the source writes keys in snake case is needed to say where they stand.
        """
        if self._says_all(tuple(native)):  # most objects
            return native, {}
        native, snakes = self.camel(native)
        for key in snakes:
            origin.renamed.setdefault(key, snake(key))
        return native, self.ordered(self._keys.carried(native) or {})

    def comes_from_extras(self, key: str) -> bool:
        """May the value of this key be a carried one?"""
        return key in self._free or key not in self.known

    def ordered(self, native: Native) -> Native:
        """The object in Google's order."""
        return {key: native[key] for key in self._keys.sorted(native)} if len(native) > 1 else native

    def put(self, native: Native, carried: Native) -> Native:
        """The object as Google writes it."""
        return self._keys.put(native, carried)


def snake(key: str) -> str:
    """`functionCall` as `function_call`."""
    return INNER_CAPITAL.sub("_", key).lower()


def _typed(keys: Mapping[type, str]) -> dict[str, type]:
    return {key: kind for kind, text in keys.items() for key in text.split()}


ONLY_GEMINI = _typed(
    {
        str: "request.serviceTier parts.mediaProcessing thinkingLevel.XHIGH finishReason.LANGUAGE "
        "finishReason.MISSING_THOUGHT_SIGNATURE finishReason.ESCALATION finishReason.PUP_LIMITED_DISABLED",
        bool: "request.store functionResponse.willContinue generationConfig.enableEnhancedCivicAnswers "
        "toolConfig.includeServerSideToolInvocations",
        dict: "tools.fileSearch googleSearch.timeRangeFilter response.modelStatus parts.toolCall parts.toolResponse "
        "parts.partMetadata",
        int: "mediaResolution.numTokens candidates.tokenCount",
        list: "tools.mcpServers",
    }
)
"""What the Gemini API has and Vertex AI has not: the name of an object or field with its key or value, and its type."""

ONLY_VERTEX = _typed(
    {
        dict: "request.modelArmorConfig request.outputConfig imageConfig.imageOutputOptions googleMaps.groundingTypes "
        "generationConfig.routingConfig generationConfig.translationConfig tools.retrieval tools.enterpriseWebSearch "
        "tools.parallelAiSearch tools.exaAiSearch",
        bool: "generationConfig.audioTimestamp generationConfig.enableAffectiveDialog functionCall.willContinue "
        "functionCallingConfig.streamFunctionCallArguments",
        list: "generationConfig.responseFormat googleSearch.excludeDomains functionCall.partialArgs "
        "groundingMetadata.retrievalQueries groundingMetadata.sourceFlaggingUris",
        str: "imageConfig.personGeneration imageConfig.prominentPeople safetySettings.method "
        "googleSearch.blockingConfidence promptFeedback.blockReasonMessage safetyRatings.severity "
        "safetyRatings.overwrittenThreshold",
        float: "safetyRatings.severityScore safetyRatings.probabilityScore",
    }
)
"""What Vertex AI has and the Gemini API has not."""


class Service(NamedTuple):
    """What a dialect that borrows the family fills in.

    `owner`: the name under which keys without a field are carried · `models`: how the path of a model begins ·
    `names`: those that functions can have · `subset`: whether a definition is written as the OpenAPI subset
    `parameters` where that can say it · `has`, `lacks`: what only this service has, and what only the other one, as in
    `ONLY_VERTEX`.
    """

    name: str
    owner: str
    models: str
    names: Alphabet
    subset: bool = False
    has: Mapping[str, type] = {}
    lacks: Mapping[str, type] = {}

    def known(self, name: str, native: Native) -> Native:
        """The object of this name without what the other service has alone, or what is of another type here."""
        inside = {key: self._inside(key, value) for key, value in native.items()}
        return self._here(name, inside)

    def _inside(self, name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._inside(name, item) for item in value]
        return self._here(name, value) if isinstance(value, dict) else value

    def _here(self, name: str, native: Native) -> Native:
        kinds = {key: self.has.get(f"{name}.{key}") for key in native if f"{name}.{key}" not in self.lacks}
        return {
            key: native[key] for key, kind in kinds.items() if kind is None or type(native[key]) in (kind, NoneType)
        }


class Writer(NamedTuple):
    """What the writers of one transcript share; `made_up` are ids that nobody wrote."""

    service: Service
    made_up: Collection[str] = ()

    @staticmethod
    def of(transcript: Transcript, service: Service) -> Writer:
        """The writer of this transcript."""
        invented = transcript.origin.invented if transcript.origin is not None else ()
        return Writer(service, frozenset(id_ for id_ in invented if not id_.startswith(CHOICE)))

    def carried(self, extras: Extras | None, inside: str = "") -> Native:
        """What rides in the extras of a record, or there under a key."""
        if extras is None:
            return {}
        carried: Any = carried_by(extras, self.service.owner)
        if inside:
            carried = carried.get(inside)
        return as_object(carried)


def names(most: int) -> Alphabet:
    """The names that functions can have, so long at the most."""
    return Alphabet("letters, digits, _, ., : and -, a letter or _ first", WORD + ".:-", most, first=LETTERS + "_")


def owned(owner: str, *carried: Native) -> Extras | None:
    """Extras of the owner, merged; None where there are none."""
    if not any(carried):
        return None
    merged = {key: value for native in carried for key, value in native.items()}
    return {owner: merged} if merged else None


def listed(value: Any) -> list[Any]:
    """A repeated field: Google also takes a single object."""
    return [value] if isinstance(value, dict) else value or []
