"""Pure figures of a channel's weeks."""
