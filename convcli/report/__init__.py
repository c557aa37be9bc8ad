"""Results as text, tables and JSON. Nothing below this floor knows a terminal; nothing here decides anything."""
