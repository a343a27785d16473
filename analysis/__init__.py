"""Pure functions: saved rounds and graphs in, tables and figures out."""
