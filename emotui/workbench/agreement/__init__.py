"""How far the sources of a dataset agree: figures, the texts behind them, and whether a model may stand in."""
