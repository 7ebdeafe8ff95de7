"""At which spread of a judge's ratings it pays to ask a stronger model, by people's labels."""
