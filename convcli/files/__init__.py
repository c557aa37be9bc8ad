"""Files as the operating system has them: opened, unpacked, cut into records, and written whole or not at all."""
