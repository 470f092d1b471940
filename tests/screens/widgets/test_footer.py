"""The footer asks no more actions than it has room for, and shows what it would have shown having asked all."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from hypothesis import given
from hypothesis import strategies as st

from emotui.screens.actions import Action
from emotui.screens.widgets.footer import KeyBar

_IDS = ("help", "palette", "quit", *(f"a{number}" for number in range(14)))
_GAP = 2


class _Keys:
    """Actions of which some can be done now; it counts how many it was asked for."""

    def __init__(self, actions: Sequence[Action], main: Sequence[str], can: Collection[str]) -> None:
        self.actions, self.main, self.asked = tuple(actions), main, set[str]()
        self._can = can

    @contextmanager
    def of_one_moment(self) -> Iterator[None]:
        yield

    def pressed_for(self, action: Action, taken: Collection[str]) -> str | None:
        self.asked.add(action.id)
        return action.shown if action.id in self._can and action.keys[0] not in taken else None


def _action(name: str, rank: int, label: str) -> Action:
    return Action(name, (name,), name[:1], label, "…", "Tool", rank)


def _naively(keys: _Keys, own: Sequence[tuple[str, str]], room: int) -> str:
    """All that there is in its order, and what fits of it."""
    there = [action for action in keys.actions if (action.rank or action.id in keys.main)]
    there = [action for action in there if keys.pressed_for(action, ()) is not None]
    told = [(action, action.shown, action.label) for action in there]
    main = list(keys.main)
    told.sort(key=lambda one: (main.index(one[0].id) if one[0].id in main else len(main), one[0].rank))
    ends = ("help", "palette", "quit")
    last = [(shown, label) for action, shown, label in told if action.id in ends]
    entries = [*own, *((shown, label) for action, shown, label in told if action.id not in ends)]

    def line(entries: Sequence[tuple[str, str]]) -> str:
        return (" " * _GAP).join(f"{keys} {label}" for keys, label in entries)

    if len(line([*entries, *last])) <= room:
        return line([*entries, *last])
    more = last[:1]
    kept: list[tuple[str, str]] = []
    for entry in entries:
        if len(line([*kept, entry, *more])) <= room:
            kept.append(entry)
    return line([*kept, *more])


_ACTIONS = st.builds(
    lambda names, ranks, labels: [_action(*one) for one in zip(names, ranks, labels, strict=False)],
    st.permutations(_IDS),
    st.lists(st.integers(0, 4), min_size=len(_IDS), max_size=len(_IDS)),
    st.lists(st.text("abc", min_size=1, max_size=14), min_size=len(_IDS), max_size=len(_IDS)),
)


@given(
    _ACTIONS,
    st.lists(st.sampled_from(_IDS), unique=True, max_size=4),
    st.sets(st.sampled_from(_IDS)),
    st.lists(st.tuples(st.just("x"), st.text("de", min_size=1, max_size=6)), max_size=2),
    st.integers(1, 120),
)
def test_what_fits_is_shown_as_if_all_had_been_asked(
    actions: list[Action], main: list[str], can: set[str], own: list[tuple[str, str]], room: int
) -> None:
    told, naive = _Keys(actions, main, can), _Keys(actions, main, can)
    shown = "".join(part.text for part in KeyBar(told).fitted(own, room))
    assert shown == _naively(naive, own, room)


def test_no_more_is_asked_than_there_is_room_for() -> None:
    actions = [_action(f"a{number}", 1, "a long label") for number in range(100)]
    keys = _Keys([*actions, _action("help", 1, "help")], (), {action.id for action in actions} | {"help"})
    KeyBar(keys).fitted([], 60)
    assert len(keys.asked) < 10
