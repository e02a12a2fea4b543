#!/usr/bin/env python3
"""kiln beside trtexec: a plan tells with `kiln why` what `trtexec --verbose` printed when it was built; flags, exports.

usage: end_to_end_test.py KILN TRTEXEC DIGITS_FOLDER
"""
import json, os, pathlib, re, subprocess, sys, tempfile, unittest

from onnx_bytes import field, float_tensor

KILN, TRTEXEC, DIGITS = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])


def run(*command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=120)


def sums_below_a_limit():
    """An ONNX model whose loop adds 1 until the sum reaches its input; the output has all sums, as many as the run makes."""
    node = lambda op, reads, makes, *rest: b"".join([*(field(1, x) for x in reads), *(field(2, x) for x in makes), field(4, op), *rest])  # noqa: E731
    value = lambda name, kind: field(1, name) + field(2, field(1, field(1, kind) + field(2, b"")))  # noqa: E731
    graph = lambda nodes, initializers, inputs, outputs: b"".join(  # noqa: E731
        [*(field(1, x) for x in nodes), field(2, "g"), *(field(5, x) for x in initializers), *(field(11, x) for x in inputs), *(field(12, x) for x in outputs)]
    )
    float_kind, int64_kind, bool_kind = 1, 7, 9
    body = graph(
        [node("Add", ["s", "one"], ["t"]), node("Less", ["t", "limit"], ["more"]), node("Identity", ["t"], ["o"])],
        [float_tensor("one", [], 1)],
        [value("i", int64_kind), value("go", bool_kind), value("s", float_kind)],
        [value("more", bool_kind), value("t", float_kind), value("o", float_kind)],
    )
    loop = node("Loop", ["", "", "zero"], ["last", "all"], field(5, field(1, "body") + field(6, body) + field(20, 5)))
    outputs = [field(1, "all") + field(2, field(1, field(1, float_kind) + field(2, field(1, field(2, "n")))))]
    network = graph([loop], [float_tensor("zero", [], 0)], [value("limit", float_kind)], outputs)
    return field(1, 8) + field(7, network) + field(8, field(2, 16))


class Serve(unittest.TestCase):
    def serve(self, python, *words):
        environment = {**os.environ, "KILN_PYTHON": str(python)}
        return subprocess.run([KILN, "serve", *words], capture_output=True, text=True, timeout=120, env=environment)

    def test_runs_the_package_with_all_words(self):
        with tempfile.TemporaryDirectory() as folder:
            python = pathlib.Path(folder) / "python"
            python.write_text('#!/bin/sh\n[ "$1 $2" = "-P -c" ] || exit 2\nshift 3\nprintf "%s|" "$@"\nexit 3\n')
            python.chmod(0o755)
            done = self.serve(python, "a b.plan", "--http-port=0")
            self.assertEqual((done.returncode, done.stdout), (3, "a b.plan|--http-port=0|"), done.stderr)

    def test_says_what_is_missing(self):
        done = self.serve("/nowhere/python", "m.plan")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Python cannot be run as '/nowhere/python': No such file", done.stderr)

    def test_explains_a_python_without_the_package(self):
        with tempfile.TemporaryDirectory() as folder:
            python = pathlib.Path(folder) / "python"
            python.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')  # which has no packages
            python.chmod(0o755)
            done = self.serve(python, "m.plan")
            self.assertEqual(done.returncode, 1)
            self.assertIn("pip install 'kiln-inference[serve]'", done.stderr)


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
        for words in [[], ["help"], ["--help"], ["-h"], ["why", "-h"]]:
            told = run(KILN, *words)
            self.assertEqual(told.returncode, 0)
            self.assertIn("kiln why m.plan", told.stdout)
            helps = told.stdout
        for message, *words in [
            ("no command is called 'explain'; there are help, dump, profile, why, diff, show, run", "explain"),
            ("the command is missing", "--fp16"),
            ("usage: kiln why m.plan [LAYER]", "why"),
            ("usage: kiln dump m.onnx", "dump", "a.onnx", "b.onnx"),
            ("unknown flag --rums; did you mean --runs?", "profile", "m.onnx", "--rums=2"),
            ("kiln dump has no flag --fp16, which is for diff, profile, run and show", "dump", "m.onnx", "--fp16"),
            ("--runs: 0 is outside [1, 2147483647]", "profile", f"{DIGITS}/digits.onnx", "--runs=0"),
            ("has no input 'zz'; its inputs are 'image'", "dump", f"{DIGITS}/digits.onnx", "--shapes=zz:1"),
        ]:
            told = run(KILN, *words)
            self.assertEqual(told.returncode, 1)
            self.assertIn(message, told.stderr)
        self.flags_mean_what_they_mean_in_trtexec(helps, run(TRTEXEC, "--help").stdout)
        with tempfile.TemporaryDirectory() as folder:
            told = run(KILN, "run", f"{DIGITS}/digits.onnx", f"--data={folder}")
        self.assertEqual(told.returncode, 1)
        self.assertIn("'image' needs input_0.pb", told.stderr)

    def test_layers_of_bodies_are_shown(self):
        model = DIGITS.parent.parent / "fuzz" / "seeds" / "onnx_reader" / "loop_if.onnx"  # a loop of 5 with a branch
        profile = run(KILN, "profile", model, "--runs=2")
        self.assertEqual(profile.returncode, 0, profile.stderr)
        self.assertRegex(profile.stdout, r" ms    5 runs of the iteration of Loop 'vf'\n")
        runs = re.findall(r" ms        (\d) runs? of the branch of (true|false) of If 'v1'\n", profile.stdout)
        self.assertEqual(sum(int(count) for count, _ in runs), 5, profile.stdout)
        self.assertRegex(run(KILN, "dump", model).stdout, r"\{  # iteration\n  .*\n(.*\n)*.*\{  # branch of true\n    ")
        with tempfile.TemporaryDirectory() as folder:
            plan, info = pathlib.Path(folder) / "loop.plan", pathlib.Path(folder) / "layers.json"
            command = [f"--onnx={model}", "--skipInference", f"--saveEngine={plan}", f"--exportLayerInfo={info}"]
            built = run(TRTEXEC, *command, "--profilingVerbosity=detailed")
            self.assertEqual(built.returncode, 0, built.stderr)
            bodies = {layer.get("Body") for layer in json.loads(info.read_text())["Layers"]}
            self.assertEqual(
                bodies,
                {None, "iteration of Loop 'vf'", "branch of true of If 'v1'", "branch of false of If 'v1'"},
            )
            inner = run(KILN, "why", plan, "1.1.2.1.1")
            self.assertRegex(inner.stdout, r"step 1 of \d of the branch of true of If 'v1'")

    def test_runs_what_has_no_bound(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "m.onnx").write_bytes(sums_below_a_limit())
            (folder / "input_0.pb").write_bytes(float_tensor("limit", [], 3))
            (folder / "output_0.pb").write_bytes(float_tensor("all", [3], 1, 2, 3))
            told = run(KILN, "run", folder / "m.onnx", f"--data={folder}")
            self.assertEqual(told.returncode, 0, told.stderr)
            self.assertRegex(told.stdout, r"all +f32\[3\], largest 3, off by at most 0 ")
            profile = run(KILN, "profile", folder / "m.onnx", "--runs=2")
            self.assertEqual(profile.returncode, 0, profile.stderr)

    def test_exports_what_it_measured_as_trtexec_does(self):
        with tempfile.TemporaryDirectory() as folder:
            exported = pathlib.Path(folder) / "profile.json"
            command = [KILN, "profile", f"{DIGITS}/digits.onnx", "--at=image:1x1x8x8", "--runs=3", f"--exportProfile={exported}"]
            self.assertEqual(run(*command).returncode, 0)
            ours = json.loads(exported.read_text())
            self.assertEqual(ours[0], {"count": 3})
            quick = ["--iterations=1", "--warmUp=0", "--duration=0"]
            run(TRTEXEC, f"--onnx={DIGITS}/digits.onnx", *quick, f"--exportProfile={exported}")  # replaces it
            theirs = json.loads(exported.read_text())
            self.assertEqual(ours[1].keys(), theirs[1].keys())
            self.assertAlmostEqual(sum(layer["percentage"] for layer in ours[1:]), 100)
            exported.write_text("mine")
            self.assertIn("it was left as it is", run(*command).stderr)
            self.assertEqual(exported.read_text(), "mine")

    def flags_mean_what_they_mean_in_trtexec(self, kiln, trtexec):
        said = [dict(re.findall(r"^  (-[-\w]+\S*) +(.*)$", text, re.M)) for text in (kiln, trtexec)]
        names = [{flag.split("=")[0]: flag for flag in flags} for flags in said]
        common = names[0].keys() & names[1].keys()
        self.assertGreater(len(common), 10)
        for name in common:
            self.assertEqual(said[0][names[0][name]], said[1].get(names[0][name]), name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
