"""The closing line of scripts/test counts what the results say, and nothing that failed is lost."""

import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "count_tests.py")


class CountTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.mkdir(self.path("gtest"))

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def ctest(self, *entries):
        self.write("ctest.xml", "<testsuite>" + "".join(entries) + "</testsuite>")

    def count(self, *more):
        result = subprocess.run([sys.executable, SCRIPT, "--ctest", self.path("ctest.xml"), "--gtest", self.path("gtest"), *more],
                                capture_output=True, text=True, check=False)
        return result.stdout.splitlines()[-1:], result.returncode

    def test_gtest_cases_count_one_by_one_and_a_skipped_one_has_not_passed(self):
        self.ctest('<testcase name="a" status="run"/>')
        self.write("gtest/a.xml", '<testsuites><testsuite name="A"><testcase name="x" status="run" result="completed" classname="A"/>'
                   '<testcase name="y" status="run" result="skipped" classname="A"><skipped/></testcase>'
                   '<testcase name="z" status="run" result="completed" classname="A"><failure/></testcase></testsuite></testsuites>')
        self.assertEqual(self.count(), (["1 passed, 2 failed"], 1))

    def test_a_program_that_crashed_is_a_failure_though_its_report_is_missing_or_good(self):
        good = '<testsuites><testsuite name="A"><testcase name="x" status="run" result="completed" classname="A"/></testsuite></testsuites>'
        self.ctest('<testcase name="a" status="fail"><failure/></testcase>', '<testcase name="b" status="fail"><failure/></testcase>')
        self.write("gtest/b.xml", good)
        self.assertEqual(self.count(), (["1 passed, 2 failed"], 1))

    def test_unittest_counts_are_read_from_its_words(self):
        self.ctest('<testcase name="p" status="run"><system-out>Ran 7 tests in 0.1s\n\nOK</system-out></testcase>',
                   '<testcase name="q" status="fail"><failure/><system-out>Ran 5 tests in 1s\n\nFAILED (failures=1, errors=1)</system-out></testcase>')
        self.assertEqual(self.count(), (["10 passed, 2 failed"], 1))

    def test_cells_are_added(self):
        self.ctest('<testcase name="p" status="run"><system-out/></testcase>')
        self.write("cells.txt", "pass one\nfail two\n")
        self.assertEqual(self.count("--cells", self.path("cells.txt")), (["2 passed, 1 failed"], 1))

    def test_everything_passed(self):
        self.ctest('<testcase name="p" status="run"><system-out/></testcase>')
        self.write("cells.txt", "pass one\n")
        self.assertEqual(self.count("--cells", self.path("cells.txt"), "--status", "0"), (["2 passed, 0 failed"], 0))

    def test_missing_results_and_a_failed_phase_are_failures(self):
        self.assertEqual(self.count(), (["0 passed, 1 failed"], 1))
        self.ctest()
        self.assertEqual(self.count(), (["0 passed, 1 failed"], 1))
        self.ctest('<testcase name="p" status="run"><system-out/></testcase>')
        self.assertEqual(self.count("--status", "8"), (["1 passed, 1 failed"], 1))
        self.write("cells.txt", "")
        self.assertEqual(self.count("--cells", self.path("cells.txt")), (["1 passed, 1 failed"], 1))


if __name__ == "__main__":
    unittest.main()
