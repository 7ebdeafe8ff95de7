"""What verdicts are worth: agreement with people, estimates, drift, checks, and a judge that learns
from labels.
"""
