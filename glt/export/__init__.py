"""What leaves the store: tickets in one file that runs anywhere, and sparse graphs for other programs.

Import from the modules: nothing here is imported before it is needed, because making and checking a ticket load torch.
"""
