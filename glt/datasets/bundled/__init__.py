"""Bundled data sets (origin and licence: NOTICE.md) and the script that builds them."""
