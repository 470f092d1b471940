"""Which places there are, by the number that opens them. A new place is one line here."""

from emotui.screens.browse.place import Browse
from emotui.screens.models.place import Models
from emotui.screens.place import Place
from emotui.screens.rephrase.place import Rephrase
from emotui.screens.results.place import Results
from emotui.screens.scenes.place import Scenes
from emotui.screens.spot.place import Spot

PLACES: dict[int, type[Place]] = {
    1: Browse,
    3: Rephrase,
    4: Scenes,
    7: Results,
    8: Models,
    9: Spot,
}

BROWSE = 1
"""Where samples are looked at, whoever asks for it."""
