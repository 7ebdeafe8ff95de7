"""How numbers are written."""


def number_of(number: int, one: str, many: str = "") -> str:
    """A number with its noun, such as "1 case" or "2,000 replies"; the plural ends in s unless
    `many` is given.
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
