#!/usr/bin/env python3
"""A plan tells with `kiln why` what `trtexec --verbose` printed when it was built.

usage: why_test.py KILN TRTEXEC DIGITS_FOLDER
"""
import pathlib, re, subprocess, sys, tempfile, unittest

KILN, TRTEXEC, DIGITS = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])


def run(*command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=120)


class Why(unittest.TestCase):
    def test_plan_has_what_the_build_said(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = pathlib.Path(folder) / "digits.plan"
            built = run(TRTEXEC, f"--onnx={DIGITS}/digits.onnx", "--skipInference", "--verbose", f"--saveEngine={plan}")
            self.assertEqual(built.returncode, 0, built.stderr)
            steps = run(KILN, "why", plan)
            self.assertEqual(steps.returncode, 0, steps.stderr)
            self.assertGreater(len(steps.stdout.splitlines()), 2)
            said = [re.sub(r"^\[.*?\] \[V\] \[TRT\] +", "", line) for line in built.stdout.splitlines() if "[V] [TRT]   " in line]
            chosen = 0
            for line in steps.stdout.splitlines():
                told = run(KILN, "why", plan, line.split()[-1])
                self.assertEqual(told.returncode, 0, told.stderr)
                if "  candidates\n" not in told.stdout:
                    continue
                notes = told.stdout.split("  candidates\n", 1)[1].split("\n\n")[0].strip().splitlines()
                for note in notes:
                    self.assertIn(note.strip(), said)
                chosen += sum(note.endswith("; chosen") for note in notes)
            self.assertGreater(chosen, 0)
            self.assertRegex(built.stdout, r"refused: ")
            lost = run(KILN, "why", plan, "nowhere")
            self.assertEqual(lost.returncode, 1)
            self.assertIn("no step of the plan runs a layer called 'nowhere'", lost.stderr)
            plan.write_bytes(plan.read_bytes()[:1000])
            self.assertIn(str(plan), run(KILN, "why", plan).stderr)

    def test_says_how_it_is_called(self):
        for words in [["help"], ["--help"]]:
            told = run(KILN, *words)
            self.assertEqual(told.returncode, 0)
            self.assertIn("kiln why m.plan", told.stdout)
        self.assertIn("there are dump, profile, why, run and help", run(KILN, "explain").stderr)
        with tempfile.TemporaryDirectory() as folder:
            told = run(KILN, "run", f"{DIGITS}/digits.onnx", f"--data={folder}")
        self.assertEqual(told.returncode, 1)
        self.assertIn("'image' needs input_0.pb", told.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
