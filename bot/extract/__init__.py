"""The border to Slack's payloads: raw dicts come in, Cases and plain values go out."""
