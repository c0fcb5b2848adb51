"""pefile_imports.py WHEEL LIST: how many libraries the files of LIST import, by pefile."""

import sys

sys.path.insert(0, sys.argv[1])
import pefile  # noqa: E402

TABLES = [
    pefile.DIRECTORY_ENTRY["IMAGE_DIRECTORY_ENTRY_IMPORT"],
    pefile.DIRECTORY_ENTRY["IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT"],
]
libraries = 0
with open(sys.argv[2], encoding="utf-8") as names:
    for name in names.read().splitlines():
        image = pefile.PE(name, fast_load=True)
        image.parse_data_directories(directories=TABLES)
        libraries += len(getattr(image, "DIRECTORY_ENTRY_IMPORT", []))
        libraries += len(getattr(image, "DIRECTORY_ENTRY_DELAY_IMPORT", []))
        image.close()
print(libraries)
