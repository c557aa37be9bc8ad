"""Where editors built on VS Code keep the files of their extensions and chats."""

from __future__ import annotations

FOLDERS = (".config", "Library/Application?Support", "AppData/Roaming")
"""The folders of settings in a home directory, on Linux, macOS and Windows; `?` stands for a space."""


def patterns(editor: str, *globs: str) -> str:
    """Returns the globs for files in the user folder of an editor, below the home directory."""
    return " ".join(f"{folder}/{editor}/User/{one}" for folder in FOLDERS for one in globs)
