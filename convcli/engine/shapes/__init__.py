"""Remembers conversions by document shape: the rows of a data set have few shapes.

A document that differs from others only in its free values (texts, ids, arguments, other top-level values) is converted
like them, with its own values. Dialects do not know about this.

- The full conversion shows what becomes of a document with marks in place of its free values (`templates`).
- The result is remembered if the document itself, and documents with probe values of every kind, gave the same result
  as the full conversion (`probes`). The next documents of this shape are converted both ways too.
- The shape and free values of every such output are read back and compared (`memo`).
- Once a shape is confirmed, a function compiled for its structure reads such documents and outputs (`structures`).

Shapes cover whole documents, so a dialect may depend on anything but the free values. It must not depend on these in a
way that no probe shows; `tests/engine/shapes` compares both ways.
"""
