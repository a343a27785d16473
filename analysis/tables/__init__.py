"""Tidy tables of rounds, curves, tickets and diagnoses, and their captions."""
