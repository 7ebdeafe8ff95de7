"""What judge-bot can do besides serving: one file each.

What a command cannot do is a BotError or a JudgeError: one plain sentence, which says what to do.
"""
