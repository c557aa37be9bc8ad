"""Checks a document against the schema of its dialect and the rules of its service."""
