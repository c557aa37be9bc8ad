"""What the databases of programs contain: their tables, the ids of their sessions, and the export of one session.

Each program has a module, which names its source."""

from __future__ import annotations

from convcli.files.program_databases import crush, cursor, goose, hermes, kiro, llm, openclaw, opencode, zed
from convcli.files.program_databases.query import ProgramDatabase, Query

DATABASES = (
    crush.DATABASE,
    hermes.DATABASE,
    goose.DATABASE,
    opencode.DATABASE,
    openclaw.DATABASE,
    llm.DATABASE,
    llm.OF_OLDER_VERSIONS,
    zed.DATABASE,
    kiro.DATABASE,
    kiro.OF_AMAZON_Q,
    cursor.OF_AGENT,
    cursor.OF_EDITOR,
)
"""All programs. The first whose tables are there counts: those with more tables stand before those with fewer."""


def program_with(query: Query) -> ProgramDatabase | None:
    """Returns the program that has such a database."""
    tables = query.tables()
    return next((one for one in DATABASES if tables.issuperset(one.tables)), None)
