"""How the next masks are chosen: one file a method, behind one small interface and a registry."""
