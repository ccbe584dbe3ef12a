#!/usr/bin/env python3
"""Fails where a co_await shares its statement with a brace list or a lambda.

g++ 12 destroys such temporaries twice. Build the value on the line above and name it.
usage: check_co_await.py [FILE...]      without files: every source below include/, src/ and test/
"""
import pathlib
import re
import sys

ARGUMENT_BRACE = re.compile(r"co_await\b[^;]*?[(,]\s*(?:[\w:<>]+\s*)?\{")
LAMBDA = re.compile(r"co_await\b[^;]*?\[[^\]\w]*[&=\w, ]*\]\s*(?:\(|\{|->)")
INSIDE_BRACE = re.compile(r"\{[^;{}]*?\bco_await\b[^;{}]*\}")


def offences(text):
    text = re.sub(r"//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", lambda m: " " * len(m.group()), text)
    for pattern in (ARGUMENT_BRACE, LAMBDA, INSIDE_BRACE):
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, match.group().split("\n")[0]


files = sys.argv[1:] or [p for top in ("include", "src", "test") for p in sorted(pathlib.Path(top).rglob("*.[hc]pp"))]
found = 0
for path in files:
    for line, what in sorted(set(offences(open(path, encoding="utf-8").read()))):
        print(f"{path}:{line}: name the temporary first: {what.strip()}")
        found += 1
sys.exit(found > 0)
