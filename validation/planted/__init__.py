"""Kernels that are badly written on purpose, each with one planted cause, and each with the kernel as it should be.

A module has CHIP, OBSTACLE (whose absence the advice must promise), `bad` and `good`, and `arguments()` for both.
"""
