"""One file an exhibit, named after its experiment: its pictures, the numbers compared, the claims tested."""
