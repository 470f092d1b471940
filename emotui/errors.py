"""What can go wrong in a way that a person can mend. Every message is one line that says what to do next."""


class EmotuiError(Exception):
    """The work itself failed (exit status 1): a model died, a store is held, a disk is full."""


class BadInput(EmotuiError):
    """Bad usage or bad input (exit status 2).

    Args:
        problems: one line each, `FILE:LINE: what is wrong` where a file is at fault.
    """

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class ModelError(EmotuiError):
    """A model cannot be loaded, cannot do what is asked of it, or died; the message ends with its last words."""


class Unanswered(ModelError):
    """A model's process died over what it was asked, or gave no answer in its time (`slow`), and is gone."""

    def __init__(self, why: str, *, slow: bool) -> None:
        super().__init__(why)
        self.slow = slow


class NotNow(ModelError):
    """A server was in trouble over all that it was asked this once; another time it may answer."""


class BadModel(BadInput, ModelError):
    """A model that was named cannot be one: a wrong option, no such file, a damaged one. Told before it is loaded."""


class StoreError(EmotuiError):
    """The store cannot be opened, is held by another program, is of a newer version, or cannot be written."""


class BadStore(BadInput, StoreError):
    """The file that was named as a store is none: it is missing, or something else."""
