"""Benchmarks: every case runs ours and its rivals on the same data, each in a process of its own, and prints ratios."""
