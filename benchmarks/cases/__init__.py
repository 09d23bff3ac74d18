"""One module a family of cases; each lists them in CASES."""
