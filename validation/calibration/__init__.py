"""Compares times that were measured on real chips with the times that trnsim predicts."""
