"""Running published kernels; tools/corpus.py is the command."""
