"""Tables of a paper: which words are the cells of which row, from the layout of the words alone."""
