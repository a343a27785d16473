"""One training loop for search and for retraining, and the tasks it can train for."""
