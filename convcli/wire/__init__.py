"""JSON values and their bytes: exact reading and writing, pointers and patches."""
