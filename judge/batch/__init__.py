"""Files of responses: judged row by row into a journal, then written as tables, or as pairs to train on."""
