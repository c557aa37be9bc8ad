"""Redaction of documents: `redactor` masks one of any dialect, by the rules of the other modules."""
