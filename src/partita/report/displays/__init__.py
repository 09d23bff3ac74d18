"""Pictures of results, one file each: a classmethod computes, the fields hold, `figure` draws."""
