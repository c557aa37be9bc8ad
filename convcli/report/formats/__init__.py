"""Verdicts as text. Each module has `render(verdicts, view)`, which yields strings as the verdicts come.

`verdicts` is an iterable of `judging.Verdict`; each format writes its own beginning and end."""
