"""The command line: every command parses, calls one function and writes one result."""
