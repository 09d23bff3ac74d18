"""`python -m partita` is the `partita` command."""

from partita.cli.main import main

main()
