#!/usr/bin/env python3
"""Runs the chart's tests for ctest: run.py [NAME...] runs NAME_test.py, else all. Exit code 77: skipped, with the reason."""
import pathlib
import sys
import unittest

SKIPPED = 77


def main():
    here = pathlib.Path(__file__).parent
    names = sys.argv[1:] or sorted(path.name.removesuffix("_test.py") for path in here.glob("*_test.py"))
    sys.path.insert(0, str(here))
    tests = unittest.defaultTestLoader.loadTestsFromNames([f"{name}_test" for name in names])
    result = unittest.TextTestRunner().run(tests)
    if not result.wasSuccessful():
        return 1
    if result.testsRun == len(result.skipped) or not result.testsRun:
        for reason in sorted({reason for _, reason in result.skipped}):
            print(f"skipped: {reason}")
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
