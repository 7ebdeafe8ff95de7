"""What the cases of a week come to: figures without words for them."""
