"""The judge inside other tools, each in a module of its own that imports the tool."""
