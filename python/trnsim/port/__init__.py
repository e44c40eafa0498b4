"""`trnsim port`: what a kernel of an older release needs to become one of a newer, line by line.

source.py holds the text and its edits, names.py what the tables of trnsim.releases tell of names and parameters, and
beta1.py, results.py and indexing.py what changed in the shape of the code since Beta 1. The user's file is only read.
"""
