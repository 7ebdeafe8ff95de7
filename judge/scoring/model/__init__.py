"""Sends a prompt to any OpenAI-compatible server; gives its answers and their cost, or raises a
`JudgeError`.
"""
