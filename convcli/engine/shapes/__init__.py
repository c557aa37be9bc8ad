"""Conversions remembered by the shapes of documents: the rows of a data set have few of them.

A document that is like others in all but its free values (texts, ids, arguments, what stands beside the conversation)
becomes what they became, with its own values. Nothing in a dialect knows of this.

- The long way shows what becomes of a document with marks in place of its free values (`templates`).
- That is remembered when the document itself came out the same as the long way, and so did documents with values of
  every kind in these places (`probes`). The next documents of this shape go both ways too.
- The shape and the free values of every output that is made so are read back and compared (`remembering`).

Shapes are those of whole documents, so what a dialect does may depend on anything but the free values. On these it must
not depend in a way that no probe shows; `tests/engine/shapes` holds both ways together.
"""
