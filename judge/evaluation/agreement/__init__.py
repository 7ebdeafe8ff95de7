"""How far scores can be trusted: judge against people, and judge against judge.

Needs the extra `agreement`.
"""
