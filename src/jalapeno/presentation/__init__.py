"""Floor 7, faces: how a person or a program sees it.

The command line, tables and pictures.  The only floor that prints, writes files for people, or ends
the program.  Start with :mod:`.cli`; a command is a module (:mod:`.list_command` and so on), and
what it shows is made by pure functions (:mod:`.report_tables`, :mod:`.comparison_tables`,
:mod:`.frontier`) and written by :mod:`.files`.
"""
