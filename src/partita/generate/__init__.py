"""Making ensembles: features in, base clusterings out; one file a way, one file a base clusterer."""
