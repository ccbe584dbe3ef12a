#!/usr/bin/env python3
"""Fails where a module includes what it may not.

The module rule lives once, in the `xila_module(NAME USES ...)` lines of CMakeLists.txt; this holds the
includes to it. It also keeps `base` and `policy` free of third-party headers, and heavy headers out of
include/.
"""
import pathlib
import re
import sys

PURE = {"base", "policy"}
HEAVY = ("boost/beast", "nlohmann/json.hpp", "yaml-cpp/", "spdlog/")  # .cpp files only

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
uses = {
    name: set(rest.split())
    for name, rest in re.findall(r"xila_module\(\s*(\w+)(?:\s+USES\s+([\w\s]+?))?\s*(?:\)|LIBRARIES|FACES)",
                                 (root / "CMakeLists.txt").read_text())
}


def verdict(module, is_public, header):
    seen = re.match(r"xila/(\w+)/", header)
    if seen and seen[1] != module and seen[1] not in uses[module]:
        return f"{module} may not include {seen[1]}"
    if module in PURE and not seen and "/" in header and not header.startswith("checks/"):
        return f"{module} includes nothing from outside"
    if is_public and header.startswith(HEAVY):
        return "too heavy for include/; hide it in a .cpp"
    return None


wrong = 0
for module in uses:
    for folder in (root / "include/xila" / module, root / "src" / module):
        for path in sorted(folder.rglob("*.[hc]pp")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                header = re.match(r'\s*#include [<"]([^>"]+)[>"]', line)
                why = header and verdict(module, "include" in path.relative_to(root).parts[:1], header[1])
                if why:
                    print(f"{path}:{number}: {why}")
                    wrong += 1
sys.exit(wrong > 0)
