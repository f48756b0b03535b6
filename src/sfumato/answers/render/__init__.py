"""Show answers to people and to other libraries: text, HTML, plots, data frames, footnotes."""
