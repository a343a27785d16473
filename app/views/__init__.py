"""One file per page: choose runs, call analysis, lay out the results."""
