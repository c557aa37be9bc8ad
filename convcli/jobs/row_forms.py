"""The forms of training rows. A trainer decides by the first row, or by its settings, which columns a data set has.

Measured with TRL 1.16 and datasets 5.2: columns that some rows lack are null, and SFT, DPO and KTO trainers fail at the
first such row, except that SFT ignores `label`. Columns such as `tools` and `images` may be missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from convcli.model.dialect import Dialect

RowForms: TypeAlias = dict[str, dict[str, int]]
"""Numbers of training rows by dialect and columns."""
LABELS = ("label", "kto_tag")
"""Columns with the label of a row, which KTO learns from."""
_SEPARATOR = ", "


def columns_of(document: Any, dialect: Dialect) -> str:
    """Returns the columns that make the form of a row, such as `prompt, completion`; empty if it has none."""
    if not dialect.form_columns or not isinstance(document, dict):
        return ""
    return _SEPARATOR.join(key for key in dialect.form_columns if document.get(key) is not None)


def count_form(forms: RowForms, dialect: str, columns: str, number: int = 1) -> None:
    """Counts rows with these columns."""
    of_dialect = forms.setdefault(dialect, {})
    of_dialect[columns] = of_dialect.get(columns, 0) + number


def note_on_forms(forms: Mapping[str, int], dialect: Dialect) -> str:
    """Returns a note if a trainer cannot read all these rows as one data set; otherwise an empty text."""
    named = {columns: tuple(columns.split(_SEPARATOR)) for columns in forms if columns}
    listed = "; ".join(f"{columns} ×{forms[columns]:,}" for columns in sorted(named, key=lambda each: -forms[each]))
    if len({tuple(key for key in keys if key not in LABELS) for keys in named.values()}) > 1:
        return f"rows of several forms: {listed}; a trainer reads rows of one form: --form {dialect.forms[0]}"
    if len(named) > 1:
        return f"some rows have no label: {listed}; KTO needs one in every row"
    if dialect.label_form and any(_is_unread(keys, dialect.label_columns) for keys in named.values()):
        return f"rows with a label: {listed}; TRL's KTO trainer reads them only in --form {dialect.label_form}"
    return ""


def _is_unread(keys: tuple[str, ...], columns: frozenset[str]) -> bool:
    """True if a row has a label without the columns that belong to it."""
    return any(key in LABELS for key in keys) and not columns <= {*keys}
