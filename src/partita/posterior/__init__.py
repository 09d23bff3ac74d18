"""What draws from a posterior tell: whether the chains agree, and how many independent draws they are worth."""
