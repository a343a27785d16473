"""Forward passes of networks that are built of many like blocks; they need torch, so no registry reads them."""
