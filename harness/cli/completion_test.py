"""The completion scripts, in the shells that read them: usage: completion_test.py FLCE-REPRO

bash and fish complete lines for real; zsh loads its script. scripts/packages-test.txt brings fish and zsh.
"""

import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)


def shell(*argv, text=None, home):
    environment = dict(os.environ, HOME=home, FLCE_REPRO_HOME=os.path.join(home, "state"), PATH=os.path.dirname(PROGRAM) + ":" + os.environ["PATH"])
    return subprocess.run(argv, input=text, capture_output=True, text=True, env=environment, timeout=120)


class CompletionTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="flce-completion-")
        self.addCleanup(self.folder.cleanup)
        os.makedirs(os.path.join(self.folder.name, "state"))
        with open(os.path.join(self.folder.name, "state", "catalogue.json"), "w", encoding="utf-8") as file:
            file.write('{"format": 1, "answers": {"torch cp311": {"version": "2.15.0", "at": 1}, "torch>=2.8,<2.9 cp311": {"version": "2.8.0", "at": 1}}}')

    def complete(self, line):
        """What bash offers for the last word of `line`."""
        words = line.split(" ")
        if "=" in words[-1]:  # as readline splits it
            name, value = words[-1].split("=")
            words[-1:] = [name, "="] + ([value] if value else [])
        array = " ".join(f"'{word}'" for word in words)
        script = (f'source <(flce-repro completion bash)\nCOMP_WORDS=({array}); COMP_CWORD={len(words) - 1}; _flce_repro\n'
                  'printf "%s\\n" "${COMPREPLY[@]}"\n')
        result = shell("bash", "--norc", text=script, home=self.folder.name)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.split()

    def test_bash_completes_options_of_the_program_and_of_a_subcommand(self):
        self.assertEqual(self.complete("flce-repro --fi"), ["--fix", "--find-links"])
        self.assertEqual(self.complete("flce-repro list --o"), ["--offline"])
        self.assertEqual(self.complete("flce-repro run --torch 2.13 --ex"), ["--exclude", "--exit-profile"])

    def test_bash_completes_values(self):
        self.assertEqual(self.complete("flce-repro --exit-profile s"), ["seed"])
        self.assertEqual(self.complete("flce-repro --exit-profile=g"), ["gate", "git-bisect"])
        self.assertEqual(self.complete("flce-repro --torch "), ["2.15.0", "2.8.0", "newest", "all"])
        self.assertEqual(self.complete("flce-repro --torch=2.8"), ["2.8.0"])
        self.assertEqual(self.complete("flce-repro --device h"), ["h100", "h200"])
        self.assertIn("flce-bf16-fp32-accum", self.complete("flce-repro --case flce-bf16"))

    def test_bash_completes_the_last_one_of_a_list(self):
        self.assertEqual(self.complete("flce-repro --fix guard,cu"), ["guard,custom-op"])
        self.assertEqual(self.complete("flce-repro bisect --axis t"), ["torch"])

    def test_bash_completes_subcommands_and_their_arguments(self):
        self.assertEqual(self.complete("flce-repro do"), ["doctor"])
        self.assertEqual(self.complete("flce-repro list si"), ["signatures"])
        self.assertEqual(self.complete("flce-repro completion "), ["bash", "zsh", "fish"])

    def test_bash_completes_files(self):
        path = os.path.join(self.folder.name, "state")
        self.assertEqual(self.complete(f"flce-repro explain {path}/cat"), [path + "/catalogue.json"])
        self.assertEqual(self.complete(f"flce-repro --json {path}/cat"), [path + "/catalogue.json"])

    def test_fish_completes(self):
        def offered(line):
            result = shell("fish", "--no-config", "-c", f"flce-repro completion fish | source; complete -C '{line}'", home=self.folder.name)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            return [answer.split("\t")[0] for answer in result.stdout.splitlines()]

        self.assertEqual(offered("flce-repro --fi"), ["--find-links", "--fix"])
        self.assertEqual(offered("flce-repro --exit-profile s"), ["seed"])
        self.assertEqual(offered("flce-repro --fix guard,cu"), ["guard,custom-op"])
        self.assertEqual(offered("flce-repro do"), ["doctor"])
        self.assertEqual(offered("flce-repro list si"), ["signatures"])

    def test_zsh_loads_it(self):
        script = "autoload -Uz compinit; compinit -D; source <(flce-repro completion zsh); print $_comps[flce-repro] $+functions[_flce_repro]\n"
        result = shell("zsh", "-f", "-c", script, home=self.folder.name)
        self.assertEqual((result.returncode, result.stderr, result.stdout), (0, "", "_flce_repro 1\n"))

    def test_an_unknown_shell_is_refused(self):
        result = shell(PROGRAM, "completion", "tcsh", home=self.folder.name)
        self.assertEqual(result.returncode, 2)
        self.assertIn("tcsh", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
