"""The engine: CSR structure with its transpose, differentiable edge values, sparse features, fast dropout."""
