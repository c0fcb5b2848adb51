"""What pefile reads of each PE image named on standard input, a line of JSON each."""

import json
import sys

import pefile

# pefile stops reading names behind so many.
MOST = pefile.MAX_SYMBOL_EXPORT_COUNT

def symbols(imports):
    return [f"#{i.ordinal}" if i.import_by_ordinal else i.name.decode("latin-1") for i in imports]


for path in sys.stdin.read().splitlines():
    pe = pefile.PE(path, fast_load=True)
    pe.parse_data_directories(
        [pefile.DIRECTORY_ENTRY[f"IMAGE_DIRECTORY_ENTRY_{n}"] for n in ("EXPORT", "IMPORT", "DELAY_IMPORT")]
    )
    imports = []
    for delayed, name in ((False, "DIRECTORY_ENTRY_IMPORT"), (True, "DIRECTORY_ENTRY_DELAY_IMPORT")):
        for entry in getattr(pe, name, []):
            imports.append([delayed, entry.dll.decode("latin-1"), symbols(entry.imports)])
    exports = getattr(getattr(pe, "DIRECTORY_ENTRY_EXPORT", None), "symbols", [])
    names = [f"#{e.ordinal}" if e.name is None else e.name.decode("latin-1") for e in exports]
    whole = names if len(names) < MOST else None
    print(json.dumps([pe.FILE_HEADER.Machine, imports, whole]))
