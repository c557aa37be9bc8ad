"""Results as text, tables and JSON. Packages below this one know no terminal; this one makes no decisions."""
