"""Verdicts as text. Each file has `render(verdicts, view)`, which takes an iterable of `judging.Verdict` and yields
pieces of text as the verdicts come; what begins and ends the report is its own business."""
