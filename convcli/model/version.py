"""The version of convcli. `pyproject.toml` has the same, and a test compares the two."""

__version__ = "0.2.0"
