"""Git as the program uses it: run safely, read into values, files marked."""
