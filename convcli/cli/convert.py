"""convcli convert."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.cli import _parts, _recording, _redacting, _selecting, _shared
from convcli.cli._commands import add_option, declare
from convcli.cli._convert_arguments import ConvertArguments
from convcli.cli._converting import Converting
from convcli.cli._types import BRANCH, DIALECT, LEVELS, PATH, VIEW, Near, Number
from convcli.report.screen import Screen

FRAMINGS = ["sse", "jsonl"]

EXAMPLES = """\
convcli samples session -o session.jsonl; convcli samples chat -o chat.json   # files to try it on
convcli convert session.jsonl --to hf-chat -o row.jsonl          # a session to a row for a trainer
convcli convert chat.json --to gemini                            # to stdout; losses go to stderr
convcli convert chat.json --to anthropic --set max_tokens=1024 --set model=claude-sonnet-4-5
convcli convert ~/.claude/projects --to hf-chat -o all.jsonl     # all sessions into one file
convcli convert session.jsonl chat.json --to openai-chat --out-dir out -j 2
convcli samples log -o log.json
convcli convert log.json --at /body --to openai-ft -o rows.jsonl # conversations inside a log
cat chat.json | convcli convert - --to openai-responses --fail-on-loss=content > out.json
"""


@declare(EXAMPLES, keeps_words=True)
@_selecting.options
@_shared.converted_inputs
@_redacting.option
@_shared.join_option
@add_option(
    "-t",
    "--to",
    "target",
    type=DIALECT,
    required=True,
    metavar="DIALECT",
    help="The dialect to write (convcli dialects lists them).",
)
@add_option(
    "-o",
    "--output",
    type=PATH,
    metavar="FILE|-",
    help="The output; without it, stdout. Several inputs go into one FILE.jsonl, .parquet or .arrow, or into a JSON "
    "array in FILE.json. FILE.jsonl.gz is compressed. On stdout they are JSON Lines.",
)
@add_option(
    "--out-dir",
    type=PATH,
    metavar="DIR",
    help="Write a file for each input, in the same tree of folders, or for each transcript of one FILE.",
)
@add_option(
    "--split",
    metavar="NAME=SHARE,...",
    help="Split by conversation into files, with --out-dir DIR or {split} in the name of -o: train=0.95,val=0.05.",
)
@add_option("--shuffle", type=Number(), metavar="SEED", help="Write the transcripts in a random order.")
@add_option("--force", is_flag=True, help="Replace existing outputs.")
@add_option(
    "--fail-on-loss",
    type=Near("level", lambda: [level for level in LEVELS if level]),
    is_flag=False,
    flag_value="any",
    metavar="[=LEVEL]",
    help="Write nothing and exit 1 if something is lost. LEVEL is content, context (includes content) or any (the "
    "default).",
)
@add_option(
    "--losses",
    type=PATH,
    metavar="FILE",
    help="Write all losses: a JSON array, or lines in FILE.jsonl. With --engine: all, first (of each kind) or none.",
)
@add_option(
    "--restore-file",
    type=PATH,
    metavar="FILE",
    help="Store what the output cannot, so that convcli restore can rebuild the original. With --engine: all, for "
    "convcli parts restore.",
)
@_recording.options
@add_option("--keep-going", is_flag=True, help="Skip what cannot be read, convert the rest, list it and exit 1.")
@add_option(
    "--allow-bad",
    metavar="N|N%",
    help="Keep going, and exit 0 if at most N records and inputs, or N percent of all, cannot be read.",
)
@add_option(
    "--lenient", is_flag=True, help="Set values of a wrong type outside of the conversation aside, and report them."
)
@add_option(
    "--branch",
    type=BRANCH,
    default="all",
    help="For sessions with branches: write the active branch, or all that the dialect can store.",
)
@add_option(
    "--view",
    type=VIEW,
    default="history",
    help="For sessions with a compaction: write the whole history, or what the model would be sent next.",
)
@add_option(
    "--program-turns",
    type=Near("choice", lambda: ["keep", "drop"]),
    metavar="keep|drop",
    help="Turns of a session that the agent program wrote in the user's place: drop them (the default for training "
    "rows) or keep them.",
)
@add_option(
    "--tools",
    type=Near("choice", lambda: ["recorded", "program", "none"]),
    metavar="CHOICE",
    help="The tools of a training row from a session that does not define them: recorded (name and arguments of its "
    "calls; the default), program (a table per agent program) or none.",
)
@_shared.tools_of
@add_option(
    "--columns",
    metavar="none|all|LIST",
    help="Columns of a training row that state where it comes from: id,model,file,… By default all, in hf-chat and in "
    "tables, for sessions, exports and logs. convcli help training lists them.",
)
@add_option(
    "--split-at",
    type=Near("choice", lambda: ["compaction"]),
    metavar="compaction",
    help="Split each conversation where a summary replaced what came before; each part begins with its summary.",
)
@add_option("--max-turns", type=Number(1), metavar="N", help="Split conversations of more than N user turns.")
@add_option(
    "--max-tokens",
    type=Number(1),
    metavar="N",
    help="Split conversations of more than N tokens, never between a call and its result. Needs --tokenizer.",
)
@add_option(
    "--tokenizer",
    metavar="NAME|FILE",
    help="What counts tokens: an encoding or model of tiktoken (o200k_base), or a tokenizer.json.",
)
@add_option(
    "--set",
    "set_keys",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a key in every output, overwriting another value: max_tokens=1024, generationConfig.topK=40. VALUE is "
    "JSON, else a string; @FILE reads it from a file.",
)
@add_option(
    "--default",
    "default_keys",
    multiple=True,
    metavar="KEY=VALUE",
    help="Like --set, but only in outputs where the key is missing or null.",
)
@add_option(
    "--map-model",
    "models",
    multiple=True,
    metavar="OLD=NEW",
    help="Write another name of a model: gpt-4o=claude-sonnet-4-5, gpt-*=qwen3. The first match counts.",
)
@add_option(
    "--form",
    metavar="FORM",
    help="The form to write, for dialects with several: request, response, … All rows of a data set need one.",
)
@add_option("--text-columns", is_flag=True, help="Write lists and objects in a row as JSON strings, as datasets do.")
@add_option(
    "--arguments",
    type=Near("style", lambda: ["text", "object"]),
    help="Tool arguments as a JSON string or an object, if the dialect allows both.",
)
@add_option("--framing", type=Near("framing", lambda: FRAMINGS), metavar="sse|jsonl", help="The framing of a stream.")
@add_option("--chunk", type=Number(0), metavar="N", help="Split the text of a stream into pieces of N characters.")
@_shared.jobs
@_parts.options
def command(screen: Screen, /, **values: Any) -> int:
    """Convert transcripts to another dialect and report losses.

    FILE is a file, FILE:LINE, a folder, a glob, or - for stdin. An output is written completely or not at all.
    """
    values["reading"] = replace(values["reading"], out_dir=values["out_dir"])  # outputs are not inputs
    arguments = ConvertArguments(**_recording.placed(values))
    if arguments.engine is not None:
        _redacting.check_engine(arguments.reading)
        _recording.refuse_parts(arguments)
        from convcli.cli import _in_parts

        return _in_parts.convert(screen, arguments)
    return Converting(screen, arguments).run()
