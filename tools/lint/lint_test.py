#!/usr/bin/env python3
"""Tests of the checkers: each must find what it is there to find, and let pass what is allowed."""
import pathlib
import tempfile
import unittest

import check_floors
import check_sizes
import check_text


class Tree(unittest.TestCase):
    """A test with a small source tree of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def problems(self, checker):
        return checker.check(self.root)[0]


class Floors(Tree):
    def include(self, file, name):
        self.write("src/" + file, f'#include "{name}"\n')
        return "\n".join(self.problems(check_floors))

    def test_lower_floor_and_own_folder_are_allowed(self):
        self.assertEqual(self.include("ir/graph.cc", "ir/graph.h"), "")
        self.assertEqual(self.include("ir/graph.h", "ops/op.h"), "")
        self.assertEqual(self.include("api/build/layers/softmax.cc", "NvInfer.h"), "")
        self.assertEqual(self.include("backend/cpu/tactics/softmax.cc", "backend/cpu/exec/team.h"), "")

    def test_peer_is_named_with_its_line(self):
        self.assertEqual(
            self.include("steps/step.cc", "ir/graph.h"),
            'src/steps/step.cc:1: #include "ir/graph.h": ir/ (floor 4) is a peer; steps/ is on floor 4',
        )

    def test_higher_floor(self):
        self.assertIn("runtime/ (floor 6) is above; base/ is on floor 0", self.include("base/log.h", "runtime/engine.h"))

    def test_angle_brackets_hide_nothing(self):
        self.write("src/base/log.h", "  #  include <ir/graph.h>\n")
        self.assertEqual(len(self.problems(check_floors)), 1)

    def test_public_headers_only_in_api_and_plugin(self):
        self.assertIn("only api/ and plugin/", self.include("builder/builder.cc", "NvInferRuntime.h"))

    def test_include_beside_the_file(self):
        self.write("src/base/log.h", "")
        self.assertIn("not from the file's own folder", self.include("base/log.cc", "log.h"))

    def test_what_runs_a_plan_sees_no_compiler(self):
        self.assertIn("does not see its tactics/", self.include("backend/cpu/exec/team.cc", "backend/cpu/tactics/gemm.h"))
        self.assertIn("does not see its compile/", self.include("backend/cuda/device/a.cc", "backend/cuda/compile/nvrtc.h"))
        self.assertIn("does not see a backend's tactics/", self.include("api/run/a.cc", "backend/cpu/tactics/backend.h"))
        self.assertIn("uses only", self.include("backend/cpu/kernels/gemm/pack.cc", "ir/graph.h"))

    def test_a_compiler_sees_neither_tactics_nor_executors(self):
        self.assertEqual(self.include("backend/cuda/compile/gemm/a.cc", "backend/cuda/kernels/gemm/gemm.h"), "")
        self.assertIn("does not see its exec/", self.include("backend/cuda/compile/gemm/a.cc", "backend/cuda/exec/step.h"))

    def test_tests_of_what_runs_a_plan_may_compile(self):
        self.assertEqual(self.include("backend/cuda/exec/a_test.cc", "backend/cuda/compile/nvrtc.h"), "")

    def test_folder_on_no_floor(self):
        self.assertIn("on no floor", self.include("utils/strings.cc", "base/str.h"))


class Sizes(Tree):
    def test_file_of_700_lines_passes_and_of_701_does_not(self):
        self.write("src/base/a.cc", "int a;\n" * 700)
        self.assertEqual(self.problems(check_sizes), [])
        self.write("src/base/a.cc", "int a;\n" * 701)
        self.assertIn("701 lines", self.problems(check_sizes)[0])

    def test_public_headers_are_exempt(self):
        self.write("include/NvInfer.h", "int a;\n" * 9000)
        self.write("cudart/include/cuda_runtime_api.h", "int a;\n" * 9000)
        self.assertEqual(self.problems(check_sizes), [])

    def functions(self, text):
        return [(name, length) for name, _, length in check_sizes.functions(text)]

    def test_function_of_71_lines(self):
        body = "  ++a;\n" * 69
        self.write("src/base/a.cc", "namespace kiln {\nint f(int a) {\n" + body + "}\n}\n")
        self.assertEqual(self.problems(check_sizes), ["src/base/a.cc:2: f has 71 lines; at most 70"])

    def test_scanner_finds_functions_of_every_kind(self):
        text = """
        namespace kiln { namespace {
        struct S : Base { int x = f(); S(int a) : a_(a), b_{a} { go(); } };
        Result<int> S::member(std::span<int> v) const noexcept {
          if (v.empty()) { return 1; }
          auto lambda = [&](int a) { return a; };
        }
        template <class T> auto g(T t) -> Result<T> {
        }
        enum class E { kA };
        const Table kTable{ {1, 2}, call({3}) };
        } }
        """
        self.assertEqual(self.functions(text), [("S", 1), ("S::member", 4), ("g", 2)])

    def test_braces_in_text_and_macros_do_not_count(self):
        text = 'void f() {\n  s = "{{{";  // {{\n  c = \'{\';\n#define M {{ \\\n  {{\n  r = R"x({{)x";\n}\nvoid g() {}\n'
        self.assertEqual(self.functions(text), [("f", 7), ("g", 1)])


class Text(unittest.TestCase):
    def rules(self, line):
        return [rule for _, rule in check_text.check_line(line)]

    def test_marks_of_unfinished_work(self):
        self.assertEqual(self.rules("// TO" + "DO: later"), ["a bare mark of unfinished work"])
        self.assertEqual(self.rules("// FIX" + "ME"), ["a bare mark of unfinished work"])

    def test_a_mark_with_its_issue_passes(self):
        self.assertEqual(self.rules("// TO" + "DO(#12): streams of one device"), [])

    def test_paths_of_one_machine(self):
        self.assertEqual(self.rules("include(/ho" + "me/ann/kiln.cmake)"), ["a path of one machine"])
        self.assertEqual(self.rules("see ../network/README.md, homework and workspaces"), [])


class ThisTree(unittest.TestCase):
    def test_checkers_look_at_real_files(self):
        for checker in (check_floors, check_sizes, check_text):
            num_files = checker.check(check_floors.sources.ROOT)[1]
            self.assertGreater(num_files, 5, checker.__name__)


if __name__ == "__main__":
    unittest.main()
