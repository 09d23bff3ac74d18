"""The compiled loops: arrays in, arrays out. They know nothing of ensembles and trust what they are given.

Every kernel is a serial scalar loop over a range of rows that releases the interpreter lock; `partita.core.threads`
runs it over fixed chunks, so a result never depends on the number of threads.
"""
