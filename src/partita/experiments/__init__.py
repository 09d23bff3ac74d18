"""Reproducing the papers: tables and figures as data, a runner that can be interrupted, and what they show."""
