"""What everything else is made of: ensembles, results, methods, errors, seeds and threads."""
