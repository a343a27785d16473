"""Tickets in one file that runs anywhere, their verification, and sparse graphs for other programs.

Import from the modules: only `schema` and `io` load without torch.
"""
