"""How the embedded model was made: its training, its figures and its graphs. Nothing of it is in the wheel."""
