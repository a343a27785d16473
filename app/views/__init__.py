"""One file a page; a page picks runs from the address, calls analysis and lays out what comes back."""
