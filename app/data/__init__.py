"""The runs that pages show, and cached readers of them."""
