"""The proof of a conversion: what was written is read back and compared, and each difference is a loss."""
