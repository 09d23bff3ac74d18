"""What a Flower app's `pyproject.toml` names: `partita.federated.flower_app:server` and `…:client`.

Both are made when they are asked for, so that the module can be read without Flower; Flower finds them by `__all__`.
"""

from typing import Any

from partita.federated.flower import client_app, server_app

__all__ = ["client", "server"]  # noqa: F822  # see __getattr__


def __getattr__(name: str) -> Any:
    if name == "client":
        return client_app()
    if name == "server":
        return server_app()
    raise AttributeError(name)
