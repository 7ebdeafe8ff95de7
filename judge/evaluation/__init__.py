"""What verdicts are worth: agreement with people, corrected means, standings, and checks."""
