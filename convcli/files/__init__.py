"""Files of the operating system: opened, unpacked, split into records, and written completely or not at all."""
