"""Says what the NKI compiler would refuse in a kernel, from the text alone (`trnsim lint`)."""
