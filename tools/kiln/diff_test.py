#!/usr/bin/env python3
"""`kiln diff` on files: engines and networks that agree, that differ, and that cannot be compared.

usage: diff_test.py KILN TRTEXEC SOURCE_FOLDER LIBRARIES_OF_PLUGINS
"""
import array, json, pathlib, subprocess, sys, tempfile, unittest

import onnx_bytes
from onnx_bytes import float_tensor, node, value

KILN, TRTEXEC, SOURCE, PLUGINS = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
DIGITS = SOURCE / "samples" / "digits" / "digits.onnx"
LOOP = SOURCE / "fuzz" / "seeds" / "onnx_reader" / "loop_if.onnx"
WORK = tempfile.TemporaryDirectory()
FOLDER = pathlib.Path(WORK.name)


def run(*command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=300)


def model(name, nodes, weights, inputs, outputs):
    """Writes an ONNX model and returns its path."""
    path = FOLDER / name
    path.write_bytes(onnx_bytes.model(nodes, weights, inputs, outputs))
    return path


def three_products(name, change=0.0, middle="second"):
    """x[n, 4] by three matrices, with a softmax behind each so that they stay steps; `change` is added to one weight of the second."""
    numbers = [((7 * i) % 11 - 5) / 4 for i in range(16)]
    changed = [numbers[0] + change, *numbers[1:]]
    nodes = []
    last = "x"
    for made, weight in [("first", "w1"), (middle, "w2"), ("third", "w3")]:
        nodes += [node("MatMul", [last, weight], [made], "second_node" if weight == "w2" else None), node("Softmax", [made], [made + "_shares"])]
        last = made + "_shares"
    weights = [float_tensor("w1", [4, 4], *numbers), float_tensor("w2", [4, 4], *changed), float_tensor("w3", [4, 4], *numbers)]
    return model(name, nodes, weights, [value("x", "n", 4)], [value(last, "n", 4)])


def plan_of(onnx, name, *flags):
    path = FOLDER / name
    built = run(TRTEXEC, f"--onnx={onnx}", "--skipInference", f"--saveEngine={path}", *flags)
    assert built.returncode == 0, built.stdout + built.stderr
    return path


def no_json(word):
    raise AssertionError(f"{word} is no JSON")


def diff(*words):
    """The report of a comparison, and the exit status."""
    told = run(KILN, "diff", *words, "--json")
    assert told.returncode in (0, 2, 3), told.stderr
    return json.loads(told.stdout, parse_constant=no_json), told.returncode


class Agree(unittest.TestCase):
    def test_an_engine_and_its_network(self):
        report, status = diff(DIGITS, "--isolate")
        self.assertEqual(status, 0)
        self.assertIsNone(report["first_outside"])
        self.assertEqual(report["faulty"], [])
        self.assertTrue(all(t["total"]["relative"] < 1e-4 and t["own"]["relative"] < 1e-4 for t in report["tensors"]))
        told = run(KILN, "diff", DIGITS)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertRegex(told.stdout, r"all \d+ tensors? compared are within the tolerance")

    def test_plans_with_other_fusions_and_batches(self):
        wide = plan_of(DIGITS, "wide.plan", "--minShapes=image:1x1x8x8", "--optShapes=image:4x1x8x8", "--maxShapes=image:8x1x8x8")
        two = plan_of(DIGITS, "two.plan", "--shapes=image:2x1x8x8", "--builderOptimizationLevel=0")
        report, status = diff(wide, two, "--isolate")
        self.assertEqual(status, 0)
        self.assertIn("[2, 1, 8, 8]", report["inputs"])
        report, status = diff(wide, DIGITS, "--shapes=image:7x1x8x8")
        self.assertEqual(status, 0)
        self.assertIn("[7, 1, 8, 8]", report["inputs"])
        sixteen = plan_of(DIGITS, "sixteen.plan", "--shapes=image:16x1x8x8")
        told = run(KILN, "diff", wide, sixteen)
        self.assertEqual(told.returncode, 1)
        self.assertRegex(told.stderr, r"no profiles of both have shapes in common: 'image' is f32\[1\.\.8, 1, 8, 8\] in .*16")
        told = run(KILN, "diff", wide, two, "--shapes=image:3x1x8x8")
        self.assertIn("the shapes of --shapes are not taken by both", told.stderr)

    def test_profiles_that_overlap_in_between(self):
        """No minimum, optimum or maximum of either is one of the other."""
        onnx = model("open.onnx", [node("Softmax", ["x"], ["y"])], [], [value("x", "n", "m")], [value("y", "n", "m")])
        flat = plan_of(onnx, "flat.plan", "--minShapes=x:1x4", "--optShapes=x:2x6", "--maxShapes=x:4x8")
        tall = plan_of(onnx, "tall.plan", "--minShapes=x:3x1", "--optShapes=x:5x3", "--maxShapes=x:9x5")
        report, status = diff(flat, tall)
        self.assertEqual(status, 0)
        self.assertIn("[3, 5]", report["inputs"])
        self.assertIn("(its references, 1 node)", diff(flat, onnx)[0]["b"])

    def test_tensors_of_other_names_are_not_said_to_be_hidden(self):
        renamed = three_products("renamed.onnx", middle="other")
        plan = plan_of(three_products("named.onnx"), "named.plan", "--shapes=x:2x4")
        found = {t["tensor"]: t for t in diff(plan, renamed)[0]["hidden"]}
        for step in found.values():
            self.assertEqual(bool(step["inside"]), bool(step["inside_shows"]))
        self.assertEqual(found["other"]["inside_shows"], ["second"])
        self.assertRegex(run(KILN, "diff", plan, renamed).stdout, r"'other': see step \d+ '.*', which shows 'second'")

    def test_flags_of_either(self):
        report, status = diff(DIGITS, DIGITS, "--fp16", "--with=--builderOptimizationLevel=0 --noTF32")
        self.assertEqual(status, 0)
        self.assertEqual(report["tolerance"]["relative"], 2e-2)
        self.assertIn("(engine, cpu", report["b"])
        for message, flag in [("--with: --json says nothing of how b is built", "--with=--json"), ("--with: 'x' is no flag", "--with=x")]:
            self.assertIn(message, run(KILN, "diff", DIGITS, flag).stderr)

    def test_loops_and_branches(self):
        report, status = diff(LOOP, "--isolate")
        self.assertEqual(status, 0, report)
        self.assertTrue(any("iteration" in t["body"] and t["runs_a"] == 5 for t in report["tensors"]), report["tensors"])
        report, status = diff(LOOP, "--loopRuns=2")
        self.assertEqual(status, 0)
        repeated = [t for t in report["tensors"] if t["runs_a"] == 5]
        self.assertTrue(repeated)
        self.assertEqual({t["runs_compared"] for t in repeated}, {2})

    def test_a_plan_of_one_layer(self):
        path = model("one.onnx", [node("Exp", ["x"], ["y"])], [], [value("x", 3)], [value("y", 3)])
        plan = plan_of(path, "one.plan")
        report, status = diff(plan, path)
        self.assertEqual((status, len(report["tensors"])), (0, 1))
        file = FOLDER / "x.bin"
        file.write_bytes(array.array("f", [0, 1, 2]).tobytes())
        report, _ = diff(plan, path, f"--loadInputs=x:{file}")
        self.assertAlmostEqual(report["tensors"][0]["total"]["largest"], 7.389056, 5)
        file.write_bytes(b"1234")
        self.assertIn("input 'x' f32[3]", run(KILN, "diff", plan, path, f"--loadInputs=x:{file}").stderr)


    def test_what_was_left_out_is_no_success(self):
        path = three_products("left_out.onnx")
        words = [path, "--shapes=x:1000x4"]
        report, status = diff(*words)
        self.assertEqual((status, report["complete"], report["num_not_compared"]), (0, True, 0))
        report, status = diff(*words, "--keep=17K")
        self.assertEqual((status, report["complete"], report["num_compared"]), (3, False, 1))
        self.assertGreater(report["num_not_compared"], 1)
        told = run(KILN, "diff", *words, "--keep=17K")
        self.assertEqual(told.returncode, 3)
        self.assertRegex(told.stdout, r"the 1 compared of \d+ tensors is within the tolerance.*\nINCOMPLETE: \d+ tensors were left out.*--keep")

    def test_no_finite_number_is_no_success(self):
        path = model("logs.onnx", [node("Log", ["x"], ["y"]), node("Exp", ["z"], ["w"])], [], [value("x", 2), value("z", 2)], [value("y", 2), value("w", 2)])
        file = FOLDER / "negative.bin"
        file.write_bytes(array.array("f", [-1, -2]).tobytes())
        told = run(KILN, "diff", path, f"--loadInputs=x:{file}")
        self.assertEqual(told.returncode, 3, told.stderr)
        self.assertIn("INCOMPLETE: 1 tensor has no finite number in a or b", told.stdout)
        alone = model("log.onnx", [node("Log", ["x"], ["y"])], [], [value("x", 2)], [value("y", 2)])
        told = run(KILN, "diff", alone, f"--loadInputs=x:{file}")
        self.assertEqual(told.returncode, 1)
        self.assertIn("none of its 2 numbers is finite, in a as in b", told.stderr)


class Differ(unittest.TestCase):
    def test_a_layer_with_other_weights_is_named(self):
        right, wrong = three_products("right.onnx"), three_products("wrong.onnx", 0.5)
        report, status = diff(wrong, right, "--shapes=x:3x4", "--isolate")
        self.assertEqual(status, 2)
        self.assertEqual(report["first_outside"], "second")
        self.assertEqual(report["faulty"], ["second"], [(t["tensor"], t["own"]["relative"]) for t in report["tensors"]])
        self.assertTrue(any(not t["within"] for t in report["tensors"] if t["tensor"].startswith("second_shares")))
        told = run(KILN, "diff", plan_of(wrong, "wrong.plan", "--shapes=x:3x4"), plan_of(right, "right.plan", "--shapes=x:3x4"))
        self.assertEqual(told.returncode, 2)
        self.assertIn("first outside the tolerance: 'second' of step", told.stdout)
        self.assertEqual(told.stderr, "")
        report, status = diff(wrong, right, "--tolerance=10")
        self.assertEqual(status, 0)

    def test_the_page(self):
        name = "</title><script>alert('x')</script>\"\u2028"
        right, wrong = three_products("odd.onnx", 0, name), three_products("odd_wrong.onnx", 1, name)
        page = FOLDER / "diff.html"
        told = run(KILN, "diff", wrong, right, "-o", page)
        self.assertEqual(told.returncode, 2, told.stderr)
        text = page.read_text()
        self.assertNotIn("<script", text)
        self.assertIn("&lt;script&gt;alert(&#39;x&#39;)", text)
        self.assertEqual(text.count("<title>") - text.count("</title>"), 0)
        self.assertIn('class="outside"', text)
        run(KILN, "diff", right, right, "-o", page)
        self.assertNotIn('class="outside"', page.read_text())
        page.write_text("mine")
        told = run(KILN, "diff", right, right, "-o", page)
        self.assertEqual((told.returncode, page.read_text()), (1, "mine"))

    def test_a_page_that_cannot_be_written_leaves_no_report(self):
        network = three_products("unwritten.onnx")
        told = run(KILN, "diff", network, "-o", FOLDER / "nowhere" / "diff.html")
        self.assertEqual((told.returncode, told.stdout), (1, ""))
        self.assertIn("nowhere/diff.html", told.stderr)


class Refuse(unittest.TestCase):
    def test_what_cannot_be_compared(self):
        plan, right = plan_of(DIGITS, "digits.plan"), three_products("refuse.onnx")
        other = model("other.onnx", [node("Exp", ["image"], ["y"])], [], [value("image", 1, 1, 8, 8)], [value("y", 1, 1, 8, 8)])
        empty = FOLDER / "empty.onnx"
        empty.write_bytes(b"")
        damaged = FOLDER / "damaged.plan"
        damaged.write_bytes(plan.read_bytes()[:1000])
        for message, *words in [
            ("only networks with the same inputs can be compared", plan, right),
            ("are they of one network?", plan, other),
            ("a plan is compared with another plan or with its ONNX file", plan),
            ("is a plan, which is built already", right, plan, "--with=--fp16"),
            ("--fp16 says how an ONNX file a is built, and", plan, plan, "--fp16"),
            ('is a plan, which is built already; --with="FLAGS" builds', plan, DIGITS, "--noTF32"),
            ("damaged.plan", damaged, right),
            ("No such file", FOLDER / "nowhere.onnx"),
            (f"'{empty}': the file is empty", empty),
            (f"'{empty}': the file is empty", plan, empty),
            ("--tolerance is 'much'", right, "--tolerance=much"),
            ("'probabilities': it has no elements", DIGITS, "--shapes=image:0x1x8x8"),
            ("-o: the standard output has the report", right, "-o", "-"),
            ("has no input 'zz'", right, "--shapes=zz:1"),
            ("has no input 'zz'", right, "--loadInputs=zz:file"),
            ("usage: kiln diff a [b]",),
            ("usage: kiln diff a [b]", right, right, right),
        ]:
            told = run(KILN, "diff", *words)
            self.assertEqual(told.returncode, 1, (message, told.stdout, told.stderr))
            self.assertIn(message, told.stderr)


    def test_plans_with_plugins(self):
        library = PLUGINS / "doubles.so"
        path = model("plugin.onnx", [node("Exp", ["x"], ["e"]), node("Doubles", ["e"], ["y"])], [], [value("x", 2, 8)], [value("y", 2, 8)])
        plan = plan_of(path, "plugin.plan", f"--dynamicPlugins={library}")
        told = run(KILN, "diff", plan, plan)
        self.assertEqual(told.returncode, 1)
        self.assertIn("step 'y_node' is the plugin 'Doubles' version '1', and kiln loads no plugins; trtexec --dynamicPlugins runs", told.stderr)
        shown = run(KILN, "show", plan, "-o", FOLDER / "plugin.html")  # without times, and it says so
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("not run: step 'y_node' is the plugin 'Doubles'", shown.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
