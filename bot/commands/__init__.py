"""What judge-bot can do besides serving: one file each."""
