"""Data that comes with the program (see NOTICE.md for origin and licence) and the script that made it."""
