"""Tables too large for one piece of memory: counted, fitted and labelled block by block."""
