"""Rows of a table as text. Each file has `render(columns, rows, wide)`, which takes an iterable of dicts and yields
pieces of text; `wide` is the width of the terminal, or None where the result is no terminal."""
