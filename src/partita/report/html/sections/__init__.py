"""The sections of the page, one file each; every one takes the data and gives HTML."""
