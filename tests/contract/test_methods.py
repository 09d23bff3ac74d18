"""Every method of the registry against every check its claims call for."""

import pytest

from partita import registry
from tests.contract import checks

CASES = [
    pytest.param(name, check, id=f"{name}-{check.__name__.removeprefix('check_')}")
    for name in registry.METHODS
    for check, applies in checks.CHECKS
    if applies(registry.get(name))
]


@pytest.mark.parametrize(("name", "check"), CASES)
def test_contract(name, check):
    check(name, registry.get(name))


def test_every_check_is_filed():
    """Nobody can write a check and forget to list it."""
    written = {value for key, value in vars(checks).items() if key.startswith("check_")}
    assert written == {check for check, _ in checks.CHECKS}
