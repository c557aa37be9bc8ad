"""What `convert` writes about a conversion: the card of a data set, and a receipt."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from convcli.cli._commands import add_option
from convcli.cli._types import PATH
from convcli.model.errors import JobError

if TYPE_CHECKING:
    from convcli.cli._convert_arguments import ConvertArguments
    from convcli.files.outputs import NewFolders, Output
    from convcli.jobs.receipts import Role
    from convcli.jobs.results import ItemResult
    from convcli.jobs.summaries import Summary
    from convcli.report.card import DataFile

F = TypeVar("F", bound=Callable[..., Any])

PRIVATE = ("--set", "--default", "--mask", "--where", "--map-model")
"""Options with values that a masked command line lacks."""
TRAIN = "train.jsonl"
"""The file of a data set without splits in a folder. `datasets` takes its name for the name of the split."""


def options(function: F) -> F:
    """Adds `--card` and `--receipt`."""
    help_text = "Write README.md next to the output: a card of the data set for the Hugging Face hub."
    card = add_option("--card", is_flag=True, help=help_text)
    help_text = "Write hashes of inputs and outputs, versions, the command and losses by level, for convcli verify."
    return card(add_option("--receipt", type=PATH, metavar="FILE", help=help_text)(function))


def refuse_parts(arguments: ConvertArguments) -> None:
    """Raises JobError for a job in parts, which has its own record of outputs."""
    if arguments.card or arguments.receipt is not None:
        help_text = "convcli parts verify DIR checks the outputs of such a job"
        raise JobError("usage", "a job in parts excludes --card and --receipt", help=help_text)


def placed(values: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments with the file or folder that `-o DIR/ --card` means."""
    output = values["output"]
    if not values["card"] or output is None or not output.endswith("/"):
        return values
    if values["split"] is not None:
        return {**values, "output": None, "out_dir": output}
    return {**values, "output": os.path.join(output, TRAIN)}


class Recording:
    """The card and the receipt of one conversion, with the arguments of `convert`.

    Raises JobError where they are not possible.
    """

    def __init__(self, arguments: ConvertArguments, inputs: Iterable[str], folders: NewFolders) -> None:
        from convcli.files.outputs import STDOUT, open_output
        from convcli.jobs.receipts import with_tilde

        self._arguments, self._inputs = arguments, list(dict.fromkeys(inputs))
        self._card: Output | None = None
        self._receipt: Output | None = None
        if arguments.out_dir is None and (arguments.output is None or arguments.output in STDOUT):
            raise JobError("usage", "--card and --receipt need an output: -o FILE or --out-dir DIR")
        self._words: list[str] = arguments.command_line
        words = self._words if arguments.reading.redaction is None else without_values(self._words)
        self._command = [self._masked(with_tilde(word)) for word in words]
        if arguments.card:
            from convcli.views.data_sets import DataSetFacts

            folders.make(self._folder)
            self._facts = DataSetFacts()
            self._card = self._opened_card()
        if arguments.receipt is not None:
            from convcli.jobs.receipts import Paths, Recorder

            self._receipt = open_output(arguments.receipt, force=arguments.force, inputs=self._inputs)
            values = (word.partition("=")[2] for word in (*arguments.set_keys, *arguments.default_keys))
            files = (value[1:] for value in values if value.startswith("@"))
            self._recorder = Recorder(Paths(arguments.receipt, self._masked), [*self._inputs, *files])

    @property
    def taken(self) -> Callable[[ItemResult], None] | None:
        """The function that counts each conversation; None without a card."""
        return None if self._card is None else self._facts.take

    @property
    def _folder(self) -> str:
        """The folder of the data set. Raises JobError if the outputs are no data set."""
        from convcli.jobs.converting import writes_rows

        arguments = self._arguments
        if writes_rows(arguments.target):
            message = f"a file of {arguments.target.title} is one transcript, not the rows of a data set"
            raise JobError("usage", f"--card: {message}")
        if arguments.out_dir is not None and arguments.split is None:
            message = "--card describes one data set, not a file for each input"
            raise JobError("usage", message, help="write -o DIR/ or --split NAME=SHARE,...")
        return arguments.out_dir or os.path.dirname(arguments.output or "")

    def _opened_card(self) -> Output:
        """Opens README.md. An edited card, or one that convcli did not write, is replaced only with `--force`."""
        from convcli.files.outputs import open_output
        from convcli.report.card import is_unedited
        from convcli.views.data_sets import README

        path, is_ours = os.path.join(self._folder, README), False
        if os.path.isfile(path):
            with open(path, "rb") as file:
                is_ours = is_unedited(file.read())
            if not is_ours and not self._arguments.force:
                message = f"{path} is not a card as convcli wrote it"
                raise JobError("output-exists", message, help="--force replaces it")
        return open_output(path, force=is_ours or self._arguments.force, inputs=self._inputs)

    def _masked(self, text: str) -> str:
        redaction = self._arguments.reading.redaction
        return text if redaction is None else redaction.text(text)

    def finish(self, outputs: list[tuple[Role, str]], rows: dict[str, int], summary: Summary, left: list[str]) -> None:
        """Writes the card and the receipt of a conversion with these outputs. Raises JobError or OutputError.

        `rows`: the number in each split · `left`: what was left out, in sentences.
        """
        if self._card is not None:
            files = self._data_files([path for role, path in outputs if role == "output"], rows)
            self._card.write(self._written_card(files, summary, left))
            self._card.commit()
            outputs = [*outputs, ("card", self._card.name)]
        if self._receipt is not None:
            is_masked = list(map(expanded, self._command)) != self._words
            receipt = self._recorder.receipt(self._command, is_masked=is_masked, outputs=outputs, summary=summary)
            self._receipt.write(receipt.written())
            self._receipt.commit()

    def _data_files(self, paths: list[str], rows: dict[str, int]) -> list[DataFile]:
        from convcli.report.card import DataFile

        names = [os.path.relpath(path, self._folder or ".").replace(os.sep, "/") for path in paths]
        return [
            DataFile(split or "train", name, count, os.path.getsize(path))
            for path, name, (split, count) in zip(paths, names, rows.items(), strict=True)
        ]

    def _written_card(self, files: list[DataFile], summary: Summary, left: list[str]) -> bytes:
        from convcli.report.card import Card
        from convcli.views.data_sets import licences

        name = self._masked(os.path.basename(os.path.abspath(self._folder or ".")))
        known = licences(path for path in self._inputs if os.path.isfile(path))
        command = " ".join(["convcli convert", *map(quoted, self._command)])
        card = Card(name, self._arguments.target, files, self._facts, summary, known, left, command)
        return card.written()

    def discard(self) -> None:
        """Discards what is not written."""
        for output in (self._card, self._receipt):
            if output is not None:
                output.discard()


def without_values(words: Iterable[str]) -> list[str]:
    """Returns the words of a command line without the values of options that can be private."""
    masked, hides = list[str](), False
    for word in words:
        name, is_joined, _ = word.partition("=")
        masked.append("…" if hides else f"{name}=…" if is_joined and name in PRIVATE else word)
        hides = not hides and word in PRIVATE
    return masked


def expanded(word: str) -> str:
    """Returns a word with the home directory for `~/` at its beginning, or after an option and an equals sign."""
    option, sign, value = word.partition("=") if word.startswith("--") else ("", "", word)
    return option + sign + os.path.expanduser(value)


def quoted(word: str) -> str:
    """Quotes a word for the shell; `~/` at its beginning stays, so that the shell replaces it."""
    import shlex  # few calls record their command

    head = "~/" if word.startswith("~/") else ""
    return head + shlex.quote(word[len(head) :]) if word != head else word
