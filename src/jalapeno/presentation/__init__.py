"""Floor 7, faces: how a person or a program sees it.

The command line, tables and pictures.  The only floor that prints, writes files for people, or ends
the program.
"""
