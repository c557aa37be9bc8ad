"""What the Gemini API and Vertex AI share: the case of keys, the name under which both carry facts, and contexts.

Both say the same things in the same words but for a few; what only Google can say rides in `extras` under the name of
the family, so that it goes from one to the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from convcli.kit.objects import Keys, Native, Spelling, carried_by
from convcli.kit.pairing import Pairing
from convcli.kit.renaming import LETTERS, WORD, Alphabet, Renaming, tool_names
from convcli.model.transcript import Extras, Origin, Transcript

FAMILY = "google"
"""The owner of extras and of opaque parts of both dialects."""

CHOICE = "choice_"
"""How the ids begin that the candidates of one response get."""

INNER_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


class Shape:
    """The keys of one kind of object, which may be written in snake case too: then that is its spelling.

    `name` is the key under which such an object stands. Only keys in `free` come from extras: those in `carried`, and
    those in `odd`, whose value is carried when no field can hold it; all where nothing is said of it.
    """

    __slots__ = ("_camel", "_keys", "free", "known", "name")

    def __init__(self, name: str, order: str, *, carried: str = "", odd: str = "") -> None:
        self.name = name
        self.free = words(f"{carried} {odd}") or words(order)
        self._keys = Keys(order, carried=carried)
        self.known = frozenset(order.split())
        self._camel = {snake(key): key for key in self.known if snake(key) != key}

    def camel(self, native: Native) -> tuple[Native, list[str]]:
        """The object in camel case, and the keys that were not; a key that stands there in both cases keeps its own."""
        if self._camel.keys().isdisjoint(native):
            return native, []
        renamed = {key: self._camel[key] for key in native if key in self._camel and self._camel[key] not in native}
        return {renamed.get(key, key): value for key, value in native.items()}, list(renamed.values())

    def take(self, native: Native, *, whole: Iterable[str] = ()) -> tuple[Native, Native, Spelling]:
        """The object in camel case, what must be carried, in Google's order, and how it was spelled.

        Of the keys in `whole` it is remembered when they are not there.
        """
        native, snakes = self.camel(native)
        carried, spelling = self._keys.take(native)
        spelling = dict(spelling or {})
        if whole and any(key not in native for key in whole):
            spelling.setdefault("keys", list(native))
        if snakes:
            spelling["snake"] = snakes
        return native, self.ordered(carried or {}), spelling

    def ordered(self, native: Native) -> Native:
        """The object in Google's order."""
        return {key: native[key] for key in self._keys.sorted(native)} if len(native) > 1 else native

    def put(self, native: Native, carried: Native, spelling: Spelling) -> Native:
        """The object as Google writes it, or as it was spelled."""
        native = self._keys.put(native, carried, spelling)
        snakes = spelling.get("snake", ())
        return {snake(key) if key in snakes else key: value for key, value in native.items()} if snakes else native


def snake(key: str) -> str:
    """`functionCall` as `function_call`."""
    return INNER_CAPITAL.sub("_", key).lower()


ONLY_GEMINI: dict[str, type] = {
    **dict.fromkeys(words("request.serviceTier parts.mediaProcessing thinkingLevel.XHIGH"), str),
    **dict.fromkeys(words("request.store functionResponse.willContinue"), bool),
    **dict.fromkeys(words("generationConfig.enableEnhancedCivicAnswers"), bool),
    **dict.fromkeys(words("toolConfig.includeServerSideToolInvocations"), bool),
    **dict.fromkeys(words("tools.fileSearch googleSearch.timeRangeFilter response.modelStatus"), dict),
    **dict.fromkeys(words("parts.toolCall parts.toolResponse parts.partMetadata"), dict),
    **dict.fromkeys(words("mediaResolution.numTokens candidates.tokenCount"), int),
    **dict.fromkeys(words("tools.mcpServers"), list),
    **dict.fromkeys(words("finishReason.LANGUAGE finishReason.MISSING_THOUGHT_SIGNATURE"), str),
    **dict.fromkeys(words("finishReason.ESCALATION finishReason.PUP_LIMITED_DISABLED"), str),
}
"""What the Gemini API has and Vertex AI has not: the name of an object or field with its key or value, and its type."""

ONLY_VERTEX: dict[str, type] = {
    **dict.fromkeys(words("request.modelArmorConfig request.outputConfig imageConfig.imageOutputOptions"), dict),
    **dict.fromkeys(words("generationConfig.routingConfig generationConfig.translationConfig"), dict),
    **dict.fromkeys(words("tools.retrieval tools.enterpriseWebSearch tools.parallelAiSearch tools.exaAiSearch"), dict),
    **dict.fromkeys(words("googleMaps.groundingTypes"), dict),
    **dict.fromkeys(words("generationConfig.audioTimestamp generationConfig.enableAffectiveDialog"), bool),
    **dict.fromkeys(words("functionCallingConfig.streamFunctionCallArguments functionCall.willContinue"), bool),
    **dict.fromkeys(
        words("generationConfig.responseFormat googleSearch.excludeDomains functionCall.partialArgs"), list
    ),
    **dict.fromkeys(words("groundingMetadata.retrievalQueries groundingMetadata.sourceFlaggingUris"), list),
    **dict.fromkeys(words("imageConfig.personGeneration imageConfig.prominentPeople safetySettings.method"), str),
    **dict.fromkeys(words("googleSearch.blockingConfidence promptFeedback.blockReasonMessage"), str),
    **dict.fromkeys(words("safetyRatings.severity safetyRatings.overwrittenThreshold"), str),
    **dict.fromkeys(words("safetyRatings.severityScore safetyRatings.probabilityScore"), float),
}
"""What Vertex AI has and the Gemini API has not."""


class Flavor(NamedTuple):
    """Where the two dialects differ.

    `has` and `lacks`: what only this one has, and what only the other one, as in `ONLY_VERTEX`. `models`: how the
    path of a model begins. `names`: those that functions can have. `subset`: whether a definition is written as the
    OpenAPI subset `parameters`, or as the JSON Schema that it is.
    """

    name: str
    models: str
    names: Alphabet
    subset: bool
    has: Mapping[str, type]
    lacks: Mapping[str, type]


class Reader:
    """What the lifts of one document share."""

    __slots__ = ("flavor", "origin", "pairing")

    def __init__(self, flavor: Flavor, origin: Origin, document: Any) -> None:
        self.flavor, self.origin, self.pairing = flavor, origin, Pairing(document)
        origin.invented = self.pairing.invented

    def take(self, shape: Shape, native: Native, *, whole: Iterable[str] = ()) -> tuple[Native, Native, Spelling]:
        """`Shape.take`; where the source writes keys in snake case is also needed to say where they stand."""
        native, carried, spelling = shape.take(native, whole=whole)
        for key in spelling.get("snake", ()):
            self.origin.renamed.setdefault(key, snake(key))
        return native, carried, spelling


def names(most: int) -> Alphabet:
    """The names that functions can have, so long at the most."""
    said = "letters, digits, _, ., : and -, a letter or _ first"
    return Alphabet(said, WORD + ".:-", most, first=LETTERS + "_")


class Writer:
    """What the lowers of one transcript share. `own`: the same dialect lifted it, so it is written as it was."""

    __slots__ = ("flavor", "made_up", "own", "rename", "spellings")

    def __init__(self, flavor: Flavor, transcript: Transcript) -> None:
        origin = transcript.origin
        self.flavor = flavor
        self.own = origin is not None and origin.dialect == flavor.name
        self.spellings = transcript.spelling(flavor.name)
        invented = origin.invented if origin is not None else ()
        self.made_up = {id_ for id_ in invented if not id_.startswith(CHOICE)}
        self.rename = Renaming(() if self.own else tool_names(transcript), flavor.names)

    def spelling(self, record: Any) -> Spelling:
        return self.spellings.get(id(record), {}) if self.spellings else {}

    def carried(self, extras: Extras | None, shape: Shape, inside: str = "") -> Native:
        """What rides in the extras of a record, or there under a key, and can be written in an object of this shape."""
        if extras is None:
            return {}
        carried = carried_by(extras, FAMILY)
        if inside:
            carried = carried.get(inside, {})
        return self.known(carried, shape) if isinstance(carried, dict) else {}

    def known(self, carried: Native, shape: Shape) -> Native:
        """Everything where it comes from; from elsewhere only what this dialect knows."""
        if self.own or not carried:
            return carried
        return self.has(shape.name, {key: self._inside(key, carried[key]) for key in carried if key in shape.free})

    def has(self, name: str, native: Native) -> Native:
        """The object without what the other dialect has alone, and without what is not of its type here."""
        lacks, mine = self.flavor.lacks, self.flavor.has
        named = ((f"{name}.{key}", key) for key in native)
        return {
            key: native[key]
            for path, key in named
            if path not in lacks and (path not in mine or type(native[key]) is mine[path])
        }

    def _inside(self, name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._inside(name, item) for item in value]
        return self.has(name, value) if isinstance(value, dict) else value


def extras_of_family(*carried: Native) -> Extras | None:
    """Extras of the family, merged; None where there are none."""
    merged = {key: value for native in carried for key, value in native.items()}
    return {FAMILY: merged} if merged else None


def listed(value: Any) -> tuple[list[Any], Spelling]:
    """A repeated field: Google also takes a single object, which is then its spelling."""
    return ([value], {"single": True}) if isinstance(value, dict) else (value or [], {})


def unlisted(values: list[Any], spelling: Spelling) -> Any:
    """The inverse of `listed`."""
    return values[0] if spelling.get("single") and len(values) == 1 else values
