"""The version of convcli; `pyproject.toml` says the same to packagers, and a test compares the two."""

__version__ = "0.2.0"
