"""One package for each feature; `bot/feature.py` says what a feature is."""
