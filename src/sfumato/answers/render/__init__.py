"""An answer for people and for other libraries: text, HTML, pictures, data frames, footnotes."""
