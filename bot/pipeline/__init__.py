"""The steps of a case: taken in, read, judged, delivered."""
