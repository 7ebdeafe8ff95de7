"""By what a channel's replies are scored."""
