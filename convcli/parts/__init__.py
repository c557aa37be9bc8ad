"""One job in parts, for one machine or a thousand: an engine only has to call `run_part` for each part.

    parts = plan(["in/*.jsonl"], "out", Task("convert", "openai-chat", "anthropic"))
    begin(parts)
    for part in unfinished(parts):
        run_part(part)                  # anywhere, in any order, more than once
    report = finish(parts)

A part is a byte range of a large plain file of JSON Lines, some row groups of a table, a file that cannot be cut, or
several small files. Its outputs are written next to those of the others, then its mark. A mark counts only if the whole
part, all options and the version of convcli are equal, and its outputs exist. So whatever was killed, running the same
job again completes it, and nothing is done twice. Supported engines: `convcli.parts.engines`; `convcli help scale` has
recipes for others.
"""

from convcli.jobs.pieces import InputPiece as InputPiece
from convcli.parts.batches import Batch as Batch
from convcli.parts.batches import ValidateBatch as ValidateBatch
from convcli.parts.finishing import Report as Report
from convcli.parts.finishing import begin as begin
from convcli.parts.finishing import finish as finish
from convcli.parts.finishing import merged as merged
from convcli.parts.marks import PartMark as PartMark
from convcli.parts.marks import finished as finished
from convcli.parts.marks import unfinished as unfinished
from convcli.parts.planning import Part as Part
from convcli.parts.planning import Task as Task
from convcli.parts.planning import plan as plan
from convcli.parts.work import convert_part as convert_part
from convcli.parts.work import count_part as count_part
from convcli.parts.work import run_part as run_part
from convcli.parts.work import validate_part as validate_part
