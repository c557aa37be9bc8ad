"""The proof of a conversion: the output is read back and compared with the source, and each difference is a loss."""
