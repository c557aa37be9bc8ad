"""The version of convcli: the one place in the code that says it (`pyproject.toml` is held to it by a test)."""

__version__ = "0.1.0"
