"""What becomes of cases later: kept, forgotten, marked."""
