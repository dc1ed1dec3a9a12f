"""Counts what ran: one line "N passed, N failed", and exit status 1 unless everything passed.

A CTest entry counts as the cases within it: those of the GoogleTest report that its program wrote, or those that
unittest says it ran. An entry that ended badly without a failed case (it crashed, timed out, wrote no report) is a
failure of its own, and so is a phase that failed without a failed case, or that left no result at all.
"""

import argparse
import os
import re
import sys
import xml.etree.ElementTree as ElementTree


def count_gtest(path):
    """(passed, failed, names of failures) of a GoogleTest report. A skipped case has not passed."""
    passed, failures = 0, []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        ran = case.get("status") == "run" and case.get("result", "completed") == "completed"
        if ran and case.find("failure") is None and case.find("skipped") is None:
            passed += 1
        else:
            failures.append(f"{case.get('classname')}.{case.get('name')}")
    return passed, failures


def count_unittest(output):
    """(passed, failed) of Python's unittest from its last words; None when it said none."""
    ran = re.findall(r"^Ran (\d+) tests?", output, re.MULTILINE)
    if not ran:
        return None
    total = sum(map(int, ran))
    failed = sum(int(n) for n in re.findall(r"(?:failures|errors|skipped|unexpected successes)=(\d+)", output))
    return max(0, total - failed), failed


def count_entry(case, gtest_dir):
    """(passed, names of failures) of one CTest entry."""
    name = case.get("name")
    ended_well = case.get("status") == "run" and case.find("failure") is None
    report = os.path.join(gtest_dir, name + ".xml")
    if os.path.exists(report):
        try:
            passed, failures = count_gtest(report)
        except ElementTree.ParseError:
            passed, failures = 0, []
            ended_well = False
    else:
        counted = count_unittest(case.findtext("system-out") or "")
        passed, failed = counted if counted else (int(ended_well), 0)
        failures = [f"{name} ({failed} cases)"] * failed
    if not ended_well and not failures:
        failures = [f"{name} (ended badly)"]
    return passed, failures


def count_cells(path):
    """(passed, names of failures) of the lines "pass NAME" and "fail NAME"."""
    passed, failures = 0, []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            verdict, _, name = line.strip().partition(" ")
            if verdict == "pass":
                passed += 1
            elif verdict:
                failures.append(f"cell {name}")
    return passed, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ctest", required=True)
    parser.add_argument("--gtest", required=True)
    parser.add_argument("--cells")
    parser.add_argument("--status", type=int, action="append", default=[])
    arguments = parser.parse_args()
    passed, failures = 0, []

    def add(counted):
        nonlocal passed
        passed += counted[0]
        failures.extend(counted[1])

    try:
        cases = list(ElementTree.parse(arguments.ctest).getroot().iter("testcase"))
        for case in cases:
            add(count_entry(case, arguments.gtest))
        if not cases:
            failures.append("no test of the build ran")
    except (OSError, ElementTree.ParseError) as error:
        failures.append(f"the tests of the build left no results: {error}")
    if arguments.cells:
        try:
            counted = count_cells(arguments.cells)
            add(counted if counted != (0, []) else (0, ["no cell ran"]))
        except OSError as error:
            failures.append(f"the cells left no results: {error}")
    if any(arguments.status) and not failures:
        failures.append(f"a phase failed (exit status {max(arguments.status)}) without a failed test")
    for name in failures:
        print(f"FAILED {name}")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
