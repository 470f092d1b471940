"""Whether what a model is asked is still wanted: looked at between its steps, so that a cancel leaves it loaded."""


class Stopped(Exception):
    """Nobody waits for the answer any more."""


class _Asked:
    """`now`: the number of the ask that is being answered; `unwanted`: of the last one that was taken back."""

    now = 0
    unwanted = -1


def begin(number: int) -> None:
    """What is computed from now on answers this ask."""
    _Asked.now = number


def take_back(number: int) -> None:
    """This ask is no longer wanted. Safe from any thread, and of no effect on any other ask."""
    _Asked.unwanted = number


def unwanted() -> bool:
    """Whether the present ask is no longer wanted."""
    return _Asked.unwanted == _Asked.now


def check() -> None:
    """Raises Stopped where the present ask is no longer wanted: called where a model is whole, between two steps."""
    if unwanted():
        raise Stopped
