"""A case from where it stands to the end: taken in, read, judged, delivered."""
