"""What is wrong with a document: by the schema of its dialect, and by the rules of its service."""
