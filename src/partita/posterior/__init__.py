"""What draws from a posterior tell: the partition that represents them, how sure it is, whether the chains agree."""
