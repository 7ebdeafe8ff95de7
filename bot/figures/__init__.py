"""Figures of a channel's scores: the week's numbers, agreement with people's labels, and charts of
them.
"""
