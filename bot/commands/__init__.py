"""The commands of `judge-bot` other than `serve`, one file each.

A command that fails raises BotError or JudgeError, whose message is one plain sentence that says
what to do.
"""
