"""What the Gemini API and Vertex AI share: the case of keys, and a table of the differences.

Both use the same words with few exceptions. What only Google can express is kept in `extras` under the owner of the
service, so it converts from one to the other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import NoneType
from typing import Any, NamedTuple

from convcli.kit.objects import Keys, Native, as_object, get_extras
from convcli.kit.renaming import LETTERS, WORD, Alphabet
from convcli.kit.supported import fields
from convcli.model.transcript import Extras, Origin, Transcript
from convcli.wire.patterns import pattern

CHOICE = "choice_"
"""The prefix of generated ids of the candidates in one response."""

INNER_CAPITAL = pattern(r"(?<!^)(?=[A-Z])")


class Shape:
    """The keys of one kind of object, which may also be in snake case.

    `name` is the key of such an object. Keys in `extra` have no field in the intermediate format, those in `partly`
    only sometimes: only these and unknown keys come from extras. If neither is given, all do. `groups` are those of
    `Keys`. `order` may also be the table of a CallTable, in which keys without a field are `extra`.
    """

    __slots__ = ("_camel", "_free", "_keys", "_with_field", "known", "name")

    def __init__(self, name: str, order: str, *, extra: str = "", partly: str = "", groups: str = "") -> None:
        self.name = name
        if "=" in order:
            words = [word.partition("=") for word in order.split()]
            order = " ".join(key for key, _, _ in words)
            extra = " ".join(key for key, sign, _ in words if not sign)
        self._free = fields(f"{extra} {partly}") or fields(order)
        self._keys = Keys(order, known=fields(order) - fields(extra), groups=groups)
        self.known = fields(order)
        self._camel = {snake(key): key for key in self.known if snake(key) != key}
        self._with_field = self.known - fields(extra)
        """Keys in camel case for which the intermediate format has a field."""

    def camel(self, native: Native) -> tuple[Native, list[str]]:
        """Returns the object in camel case, and the keys that were not. A key in both cases keeps its own."""
        if self._camel.keys().isdisjoint(native):
            return native, []
        renamed = {key: self._camel[key] for key in native if key in self._camel and self._camel[key] not in native}
        return {renamed.get(key, key): value for key, value in native.items()}, list(renamed.values())

    def read(self, native: Native, origin: Origin) -> tuple[Native, Native]:
        """Returns the object in camel case, and the extras, in Google's order.

        Records which keys the source has in snake case, for the paths.
        """
        if native.keys() <= self._with_field:  # most objects
            return native, {}
        native, snakes = self.camel(native)
        _record(snakes, origin)
        return native, self.ordered(self._keys.extra(native) or {})

    def renamed(self, native: Native, origin: Origin) -> Native:
        """Returns the object in camel case and in Google's order, the same one if all its keys have fields.

        Records which keys the source has in snake case, for the paths.
        """
        if native.keys() <= self._with_field:  # most objects
            return native
        native, snakes = self.camel(native)
        _record(snakes, origin)
        return self.ordered(native)

    def comes_from_extras(self, key: str) -> bool:
        """True if the value of this key may come from extras."""
        return key in self._free or key not in self.known

    def ordered(self, native: Native) -> Native:
        """Returns the object in Google's order."""
        return {key: native[key] for key in self._keys.sorted(native)} if len(native) > 1 else native

    def put(self, native: Native, extra: Native) -> Native:
        """Returns the object as Google writes it."""
        return self._keys.put(native, extra)


def _record(snakes: list[str], origin: Origin) -> None:
    for key in snakes:
        origin.aliases.setdefault(key, snake(key))


def snake(key: str) -> str:
    """Returns `function_call` for `functionCall`."""
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
"""What only the Gemini API has: the name of an object or field with its key or value, and its type."""

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
"""What only Vertex AI has."""


class Service(NamedTuple):
    """The differences that a dialect of this family defines.

    `owner`: the name for keys without a field · `models`: the prefix of model paths · `names`: the allowed function
    names · `subset`: whether a definition is written as the OpenAPI subset `parameters` where that suffices · `has`,
    `unsupported`: what only this service has, and what only the other one has, as in `ONLY_VERTEX`.
    """

    name: str
    owner: str
    models: str
    names: Alphabet
    subset: bool = False
    has: Mapping[str, type] = {}
    unsupported: Mapping[str, type] = {}

    def known(self, name: str, native: Native) -> Native:
        """Returns the object without what only the other service has, or what has another type here."""
        inside = {key: self._inside(key, value) for key, value in native.items()}
        return self._here(name, inside)

    def _inside(self, name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._inside(name, item) for item in value]
        return self._here(name, value) if isinstance(value, dict) else value

    def _here(self, name: str, native: Native) -> Native:
        kinds = {key: self.has.get(f"{name}.{key}") for key in native if f"{name}.{key}" not in self.unsupported}
        return {key: native[key] for key, kind in kinds.items() if kind is None or _is_of(native[key], kind)}


def _is_of(value: Any, kind: type) -> bool:
    """True for a value of this type or null; an enum may also be a number."""
    return type(value) in (kind, NoneType) or (kind is str and type(value) is int)


class Writer(NamedTuple):
    """The shared state of writing one transcript; `generated` are generated ids."""

    service: Service
    generated: Collection[str] = ()

    @staticmethod
    def of(transcript: Transcript, service: Service) -> Writer:
        """Returns the writer of this transcript."""
        invented = transcript.origin.generated_ids if transcript.origin is not None else ()
        return Writer(service, frozenset(id_ for id_ in invented if not id_.startswith(CHOICE)))

    def extra(self, extras: Extras | None, inside: str = "") -> Native:
        """Returns the extras of a record, or those under a key."""
        if extras is None:
            return {}
        extra: Any = get_extras(extras, self.service.owner)
        if inside:
            extra = extra.get(inside)
        return as_object(extra)


def names(most: int) -> Alphabet:
    """Returns the character set of function names with this maximum length."""
    return Alphabet("letters, digits, _, ., : and -, a letter or _ first", WORD + ".:-", most, first=LETTERS + "_")


def owned(owner: str, *extra: Native) -> Extras | None:
    """Returns the owner's extras, merged; None if there are none."""
    if not any(extra):
        return None
    merged = {key: value for native in extra for key, value in native.items()}
    return {owner: merged} if merged else None


def listed(value: Any) -> list[Any]:
    """Returns a repeated field as a list; Google also accepts a single object."""
    return [value] if isinstance(value, dict) else value or []
