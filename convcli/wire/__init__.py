"""JSON values and their bytes: read and written exactly, pointed into, and patched."""
