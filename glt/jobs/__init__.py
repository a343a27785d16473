"""Start, watch, stop and resume workers: local processes that outlive whoever started them."""
