#!/usr/bin/env python3
"""trtexec from the outside: build, save, load in a new process, run, export; and that every failure says so.

usage: end_to_end_test.py TRTEXEC DIGITS_FOLDER FOLDER_OF_PLUGIN_LIBRARIES
"""
import itertools, json, os, pathlib, re, resource, struct, subprocess, sys, tempfile, unittest

TRTEXEC, DIGITS, LIBRARIES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
ONNX = f"--onnx={DIGITS}/digits.onnx"
RANGE = ["--minShapes=image:1x1x8x8", "--optShapes=image:4x1x8x8", "--maxShapes=image:16x1x8x8"]
QUICK = ["--iterations=1", "--warmUp=0", "--duration=0"]
COUNT, PIXELS, CLASSES = 16, 64, 10


class Run:
    def __init__(self, *options, check=True, **how):
        done = subprocess.run([TRTEXEC, *map(str, options)], capture_output=True, text=True, timeout=300, **how)
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
        if check and (self.status != 0 or "&&&& PASSED TensorRT.trtexec" not in self.out):
            raise AssertionError(f"trtexec {options} failed:\n{self.out[-2000:]}\n{self.err[-2000:]}")


def field(number, value):
    """A field of a protobuf message: of a number, or of bytes."""
    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)

    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def table(rows):
    """An ONNX model that takes one row, of 256 KiB, out of a constant."""
    def tensor(name, dtype, *extents):
        shape = b"".join(field(1, field(1, extent)) for extent in extents)
        return field(1, name) + field(2, field(1, field(1, dtype) + field(2, shape)))

    rest = field(2, 1) + field(8, "table") + field(9, os.urandom(1 << 18) * rows)
    node = field(1, "table") + field(1, "row") + field(2, "y") + field(4, "Gather")
    graph = field(1, node) + field(2, "g") + field(5, field(1, rows) + field(1, 1 << 16) + rest)
    graph += field(11, tensor("row", 7, 1)) + field(12, tensor("y", 1, 1, 1 << 16))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))


class EndToEnd(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.plan = cls.folder / "digits.plan"
        cls.images = cls.folder / "images.bin"
        cls.images.write_bytes((DIGITS / "heldout.bin").read_bytes()[: COUNT * PIXELS * 4])
        cls.built = Run(ONNX, *RANGE, f"--saveEngine={cls.plan}", "--skipInference")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def json(self, name):
        return json.loads((self.folder / name).read_text())

    def infer(self, *options, batch=COUNT, check=True):
        return Run(f"--loadEngine={self.plan}", f"--shapes=image:{batch}x1x8x8", f"--loadInputs=image:{self.images}", *options, check=check)

    def fails(self, message, *options):
        run = Run(*options, check=False)
        self.assertNotEqual(run.status, 0)
        self.assertIn("&&&& FAILED TensorRT.trtexec", run.out)
        self.assertIn(message, run.err)

    def sixteen(self):
        path = self.folder / "sixteen.bin"
        path.write_bytes(bytes(16))
        return path

    def classes(self, name):
        (output,) = self.json(name)
        self.assertEqual((output["name"], output["dimensions"]), ("probabilities", f"{COUNT}x{CLASSES}"))
        rows = [output["values"][i * CLASSES : (i + 1) * CLASSES] for i in range(COUNT)]
        for row in rows:
            self.assertAlmostEqual(sum(row), 1, places=5)
        return [row.index(max(row)) for row in rows]

    def test_building_leaves_the_plan_alone(self):
        self.assertIn("Skipped inference phase since --skipInference is added.", self.built.out)
        self.assertEqual([p.name for p in self.folder.glob("digits.plan*")], ["digits.plan"])

    def test_reads_the_digits(self):
        labels = list((DIGITS / "heldout.labels").read_bytes()[:COUNT])
        for options in [[], ["--noDataTransfers"], ["--infStreams=2"], ["--infStreams=2", "--threads", "--useSpinWait"],
                        ["--useCudaGraph"], ["--useCudaGraph", "--noDataTransfers"], ["--useCudaGraph", "--infStreams=2", "--threads"]]:
            self.infer(f"--exportOutput={self.folder}/outputs.json", *QUICK, *options)
            right = sum(a == b for a, b in zip(self.classes("outputs.json"), labels))
            self.assertGreaterEqual(right, COUNT - 1, options)

    def test_summary_is_what_scripts_parse(self):
        run = self.infer("--iterations=20", "--warmUp=5", "--duration=0", "--percentile=50,99")
        self.assertRegex(run.out, r"(?m)^\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\] \[I\] Throughput: [\d.e+]+ qps$")
        for label in ["Latency", "Enqueue Time", "H2D Latency", "GPU Compute Time", "D2H Latency"]:
            number = r"[\d.e+-]+ ms"
            self.assertRegex(run.out, rf"(?m)\[I\] {label}: min = {number}, max = {number}, mean = {number}, median = {number}, "
                             rf"percentile\(50%\) = {number}, percentile\(99%\) = {number}$")
        self.assertRegex(run.out, r"(?m)^&&&& RUNNING TensorRT\.trtexec \[TensorRT v\d+\] \[b\d+\] # ")
        self.assertRegex(run.out, r"Average on 10 runs - GPU latency: [\d.e-]+ ms - Host latency: [\d.e-]+ ms \(enqueue [\d.e-]+ ms\)")
        self.assertNotIn("\x1b", run.out + run.err)  # no progress bar into a pipe

    def test_captures_a_graph_where_it_says_so(self):
        captured = "Successfully captured CUDA graph for the current execution context."
        run = self.infer("--useCudaGraph", "--infStreams=2", "--iterations=3", "--warmUp=0", "--duration=0")
        self.assertEqual(run.out.count(captured), 2)
        self.assertIn("CUDA Graph: Enabled", run.out)
        self.assertNotIn(captured, self.infer(*QUICK).out)
        run = self.infer("--useCudaGraph", "--dumpProfile", "--separateProfileRun", *QUICK)  # layers are timed without it
        self.assertEqual(run.out.count(captured), 1)
        self.assertIn("=== Profile (", run.out)
        run = self.infer("--useCudaGraph", "--dumpProfile", *QUICK)
        self.assertNotIn(captured, run.out)
        self.assertIn("--useCudaGraph does nothing beside --dumpProfile", run.err)

    def test_tactic_sources(self):
        run = Run(ONNX, "--skipInference", "--tacticSources=-CUDNN,+CUBLAS_LT")
        self.assertIn("Tactic sources: cublasLt [ON], cudnn [OFF], ", run.out)
        self.fails("'CUDA' begins with neither + (take kernels from there) nor -", ONNX, "--tacticSources=CUDA")

    def test_times(self):
        self.infer(f"--exportTimes={self.folder}/times.json", "--iterations=7", "--warmUp=0", "--duration=0")
        times = self.json("times.json")
        self.assertEqual(len(times), 7)
        for t in times:
            self.assertAlmostEqual(t["latencyMs"], t["h2dMs"] + t["computeMs"] + t["d2hMs"], places=4)
            self.assertLessEqual(t["startComputeMs"], t["endComputeMs"])
            self.assertGreater(t["computeMs"], 0)

    def test_without_transfers_latency_is_computing(self):
        self.infer(f"--exportTimes={self.folder}/times.json", "--noDataTransfers", "--iterations=1", "--warmUp=1", "--duration=0.05")
        times = self.json("times.json")
        self.assertGreater(len(times), 1)
        for t in times:
            self.assertEqual((t["h2dMs"], t["d2hMs"]), (0, 0))
            self.assertEqual(t["latencyMs"], t["computeMs"])
        self.assertGreaterEqual(times[-1]["endComputeMs"], 51)

    def test_profile_and_layers(self):
        run = self.infer(f"--exportProfile={self.folder}/profile.json", f"--exportLayerInfo={self.folder}/layers.json", "--dumpProfile",
                         "--separateProfileRun", "--dumpLayerInfo", "--iterations=3", "--warmUp=0", "--duration=0")
        count, *rows = self.json("profile.json")
        self.assertGreaterEqual(count["count"], 3)
        self.assertAlmostEqual(sum(row["percentage"] for row in rows), 100, places=3)
        self.assertEqual({tuple(row) for row in rows}, {("name", "timeMs", "averageMs", "medianMs", "percentage")})
        self.assertGreaterEqual(len(self.json("layers.json")["Layers"]), len(rows))
        self.assertIn("=== Profile (", run.out)
        self.assertIn("=== Performance summary ===", run.out)

    def test_dumped_outputs_are_the_exported_ones(self):
        run = self.infer(f"--exportOutput={self.folder}/outputs.json", "--dumpOutput", *QUICK)
        line = re.search(rf"probabilities: \({COUNT}x{CLASSES}\)\n.*?\[I\] (.*)\n", run.out)[1]
        self.assertEqual([float(v) for v in line.split()], self.json("outputs.json")[0]["values"])

    def test_dynamic_extents_default_to_one(self):
        run = Run(ONNX, *QUICK)
        self.assertIn("Automatically overriding shape to: 1x1x8x8", run.err)
        run = Run(f"--loadEngine={self.plan}", *QUICK)
        self.assertIn("Automatically setting shape to: 1x1x8x8", run.err)

    def test_timing_cache_is_written_and_read(self):
        cache = self.folder / "cache.bin"
        Run(ONNX, "--skipInference", f"--timingCacheFile={cache}")
        size = cache.stat().st_size
        self.assertGreater(size, 0)
        run = Run(ONNX, "--skipInference", f"--timingCacheFile={cache}")
        self.assertIn(f"Loaded {size} bytes of timing cache", run.out)
        self.assertEqual(cache.stat().st_size, size)

    def test_times_that_are_missing_are_told(self):
        cache = self.folder / "strict.bin"
        self.fails("the timing cache has no entry for tactic", ONNX, "--skipInference", f"--timingCacheFile={cache}", "--errorOnTimingCacheMiss")
        Run(ONNX, "--skipInference", f"--timingCacheFile={cache}")
        Run(ONNX, "--skipInference", f"--timingCacheFile={cache}", "--errorOnTimingCacheMiss")

    def test_types_of_inputs_and_outputs(self):
        labels = list((DIGITS / "heldout.labels").read_bytes()[:COUNT])
        pixels = struct.unpack(f"<{COUNT * PIXELS}f", self.images.read_bytes())
        halves = self.folder / "halves.bin"
        halves.write_bytes(struct.pack(f"<{COUNT * PIXELS}e", *pixels))
        run = Run(ONNX, *RANGE, *QUICK, "--inputIOFormats=fp16:chw", "--outputIOFormats=fp32:chw", f"--shapes=image:{COUNT}x1x8x8",
                  f"--loadInputs=image:{halves}", f"--exportOutput={self.folder}/outputs.json")
        self.assertIn("and type fp16 is created", run.out)
        right = sum(a == b for a, b in zip(self.classes("outputs.json"), labels))
        self.assertGreaterEqual(right, COUNT - 1)
        run = Run(ONNX, *QUICK, "--inputIOFormats=fp32:hwc8", "--outputIOFormats=fp32:chw", "--shapes=image:1x1x8x8", "--dumpOutput")
        self.assertIn("Values of image are read and written as memory has them", run.out)
        self.fails(f"has 16 bytes; {PIXELS * 8 * 4} are needed", ONNX, *QUICK, "--inputIOFormats=fp32:hwc8", "--shapes=image:1x1x8x8",
                   f"--loadInputs=image:{self.sixteen()}")
        self.fails("2 formats are given; the network has 1 such tensors", ONNX, *RANGE, "--inputIOFormats=fp16:chw,fp32:chw")

    def test_failures_say_so(self):
        load = f"--loadEngine={self.plan}"
        self.fails("file", load, f"--loadInputs=image:{self.images}", "--shapes=image:5x1x8x8")
        self.fails(f"has {COUNT * PIXELS * 4} bytes; {5 * PIXELS * 4} are needed", load, f"--loadInputs=image:{self.images}", "--shapes=image:5x1x8x8")
        self.fails("above profile 0's maximum 16", load, "--shapes=image:17x1x8x8")
        self.fails("the engine has no input 'imag'", load, "--shapes=imag:1x1x8x8")
        self.fails("did you mean --loadEngine?", "--loadEngin=x")
        self.fails("flag --refit is not in Kiln yet", ONNX, "--refit")
        self.fails("No such file or directory", "--loadEngine=/nowhere/x.plan")
        self.fails("cannot parse", "--onnx=/nowhere/x.onnx")
        self.fails("does not fit the network's", ONNX, "--shapes=image:1x1x9x8")
        self.fails("No space left on device", ONNX, "--saveEngine=/dev/full", "--skipInference")
        self.fails("No such file or directory", ONNX, "--saveEngine=/nowhere/x.plan", "--skipInference")

    def test_plugin_libraries_are_loaded(self):
        load, dynamic = f"--loadEngine={self.plan}", f"--dynamicPlugins={LIBRARIES}/both_kinds.so"
        static = [f"--staticPlugins={LIBRARIES}/registers_itself.so", f"--staticPlugins={LIBRARIES}/no_entry.so"]
        asked = "both_kinds: asked for creators"
        run = Run(ONNX, *RANGE, *QUICK, *static, dynamic, "--verbose")
        self.assertEqual(run.out.count(asked), 2)  # by the builder's registry and by the runtime's
        self.assertIn(f"Loading supplied plugin library: {LIBRARIES}/registers_itself.so", run.out)
        self.assertIn(f"Plugins: {LIBRARIES}/registers_itself.so {LIBRARIES}/no_entry.so", run.out)
        run = Run(load, *QUICK, f"--plugins={LIBRARIES}/registers_itself.so", dynamic, "--ignoreParsedPluginLibs")
        self.assertEqual(run.out.count(asked), 1)
        for warning in ["--plugins is deprecated", "--ignoreParsedPluginLibs does nothing"]:
            self.assertIn(warning, run.out + run.err)

    def test_plugin_libraries_of_the_other_kind_are_told(self):
        told = f"load it by --dynamicPlugins={LIBRARIES}/"
        run = Run(f"--loadEngine={self.plan}", *QUICK, f"--staticPlugins={LIBRARIES}/both_kinds.so")
        self.assertIn(told + "both_kinds.so", run.out + run.err)
        run = Run(f"--loadEngine={self.plan}", *QUICK, f"--staticPlugins={LIBRARIES}/registers_itself.so")
        self.assertNotIn(told, run.out + run.err)

    def test_plugin_libraries_that_do_not_load_are_told(self):
        load = f"--loadEngine={self.plan}"
        self.fails("--staticPlugins: cannot load /nowhere/x.so: /nowhere/x.so: cannot open shared object file", load, "--staticPlugins=/nowhere/x.so")
        self.fails("undefined symbol: creators_from_elsewhere", load, f"--staticPlugins={LIBRARIES}/lacks_a_symbol.so")
        for options in [[load], [ONNX, *RANGE]]:
            self.fails("it exports neither getCreators nor getPluginCreators", *options, f"--dynamicPlugins={LIBRARIES}/no_entry.so")
        threw = {"1": "its initialiser threw: no licence",
                 "object": "its initialiser threw an exception that is no std::exception"}
        for flag, (thrown, words) in itertools.product(["--staticPlugins", "--dynamicPlugins"], threw.items()):
            without = dict(os.environ, KILN_TEST_NO_LICENCE=thrown)
            run = Run(load, f"{flag}={LIBRARIES}/throws_when_loaded.so", check=False, env=without)
            self.assertEqual(run.status, 1)
            self.assertIn(words, run.err)
        library = f"{LIBRARIES}/both_kinds.so"
        run = Run(load, *QUICK, f"--setPluginsToSerialize={library}", f"--dynamicPlugins={library}")
        self.assertNotIn("both_kinds: asked for creators", run.out)
        self.assertIn("--setPluginsToSerialize does nothing beside --loadEngine", run.out + run.err)

    def test_plans_with_plugin_libraries(self):
        library = f"{LIBRARIES}/both_kinds.so"
        plan = self.folder / "library.plan"
        asked = "both_kinds: asked for creators"
        libraries = [f"--dynamicPlugins={library}", f"--setPluginsToSerialize={library}"]
        Run(ONNX, *RANGE, *QUICK, *libraries, f"--saveEngine={plan}")  # what it built itself it trusts
        self.assertGreater(plan.stat().st_size, pathlib.Path(library).stat().st_size)
        self.fails(f"the plan holds plugin libraries ('{library}')", f"--loadEngine={plan}", *QUICK)
        self.assertIn(asked, Run(f"--loadEngine={plan}", *QUICK, "--versionCompatible").out)
        self.fails("allows neither files in memory nor temporary ones", f"--loadEngine={plan}", *QUICK, "--vc",
                   "--tempfileControls=in_memory:deny,temporary:deny")
        on_disk = [f"--loadEngine={plan}", *QUICK, "--vc", "--tempfileControls=in_memory:deny"]
        self.fails("/nowhere/kiln_plugin_library", *on_disk, "--tempdir=/nowhere")
        self.assertIn(asked, Run(*on_disk, f"--tempdir={self.folder}").out)
        self.assertEqual(list(self.folder.glob("kiln_plugin_library*")), [])

    def test_large_plans_are_in_a_file(self):
        model = self.folder / "table.onnx"
        model.write_bytes(table(rows=4 * 66))
        large = [f"--onnx={model}", *QUICK, "--builderOptimizationLevel=0"]
        for folder in [self.folder, pathlib.Path(TRTEXEC).parent]:
            run = Run(*large, f"--tempdir={folder}")
            if "it is in memory" not in run.err:
                break
        else:
            self.skipTest(f"no folder on a disk: {run.err}")
        self.assertIn(f"The plan is in a temporary file in {folder}\n", run.out)
        self.assertIn("Created engine with size: 66.0", run.out)
        self.assertNotIn("--tempdir", run.err)
        denied = Run(*large, "--skipInference", f"--tempdir={folder}", "--tempfileControls=temporary:deny")
        self.assertNotIn("The plan is in", denied.out)
        small = Run(ONNX, "--skipInference", f"--tempdir={folder}")
        self.assertNotIn("The plan is in", small.out)
        nowhere = Run(*large, "--skipInference", "--tempdir=/nowhere")
        self.assertIn("--tempdir: the plan is in memory, since no folder takes it (/nowhere: No such file or directory)", nowhere.err)

    def test_one_element_stands_for_a_scalar(self):
        model = f"--onnx={DIGITS.parent.parent}/fuzz/seeds/import/if_shadow.onnx"  # x is f32[3], c is a boolean scalar
        plan = self.folder / "scalar.plan"
        Run(model, "--shapes=c:1", f"--saveEngine={plan}", "--skipInference")
        for shape in ["1", "scalar", ""]:
            Run(model, f"--shapes=x:3,c:{shape}", *QUICK)
            Run(f"--loadEngine={plan}", f"--shapes=c:{shape}", *QUICK)
        self.fails("input 'c': the shape given, 2, does not fit the network's, scalar", model, "--shapes=c:2")
        self.fails("input 'x': the shape given, scalar, does not fit the network's, 3", model, "--shapes=x:")
        self.fails("input 'c': the plan is built for scalar only; 2 was given", f"--loadEngine={plan}", "--shapes=c:2")
        self.fails("'c' has no value after the colon", model, "--loadInputs=c:")

    def test_full_disk_for_every_file(self):
        for flag in ["saveEngine", "timingCacheFile", "exportTimes", "exportOutput", "exportProfile", "exportLayerInfo"]:
            self.fails("No space left on device", ONNX, f"--{flag}=/dev/full", *QUICK)

    def test_disk_that_fills_up_leaves_the_old_plan(self):
        kept = self.folder / "kept.plan"
        kept.write_bytes(b"old")
        small = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
        run = Run(ONNX, f"--saveEngine={kept}", "--skipInference", check=False, preexec_fn=small)
        self.assertEqual(run.status, 1)
        self.assertIn(f"cannot write plan {kept}: File too large", run.err)
        self.assertIn("&&&& FAILED", run.out)
        self.assertEqual(kept.read_bytes(), b"old")
        self.assertEqual(len(list(self.folder.glob("kept.plan*"))), 1)

    def test_builds_saves_and_runs_at_once(self):
        for plan in [self.folder / "once.plan", "/dev/null"]:
            Run(ONNX, f"--saveEngine={plan}", f"--exportOutput={self.folder}/outputs.json", *QUICK)
            self.assertEqual(len(self.json("outputs.json")[0]["values"]), CLASSES)

    def test_damaged_plans(self):
        whole = self.plan.read_bytes()
        damaged = self.folder / "damaged"
        for content in [b"", whole[:100], whole[: len(whole) // 2], struct.pack("<I", 7) + whole[4:]]:
            damaged.write_bytes(content)
            self.fails("damaged: the plan cannot be loaded", f"--loadEngine={damaged}")

    def test_help(self):
        for option in ["--help", "-h"]:
            run = Run(option, check=False)
            self.assertEqual(run.status, 0)
            self.assertIn("--saveEngine=FILE", run.out)
            self.assertNotIn("&&&&", run.out)
        self.fails("no model: --onnx=FILE builds one, --loadEngine=FILE loads a plan, --help lists all flags")

    def test_files_of_others_are_left_alone(self):
        for content in [b"Dear diary,\n", b"[1, 2]", b"x", self.plan.read_bytes()]:
            for flag in ["timingCacheFile", "exportTimes", "exportOutput", "exportProfile", "exportLayerInfo"]:
                precious = self.folder / "precious"
                precious.write_bytes(content)
                before = sorted(self.folder.iterdir())
                self.fails("it was left as it is", ONNX, f"--{flag}={precious}", *QUICK)
                self.assertEqual(precious.read_bytes(), content)
                self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_exports_replace_their_own(self):
        exports = [f"--{flag}={self.folder}/again_{flag}" for flag in ["exportTimes", "exportOutput", "exportProfile", "exportLayerInfo"]]
        for _ in range(2):
            self.infer(*exports, "--separateProfileRun", *QUICK)
        for path in self.folder.glob("again_*"):
            self.assertTrue(json.loads(path.read_text()), path)

    def test_only_a_whole_timing_cache_is_replaced(self):
        cache = self.folder / "maybe.bin"
        Run(ONNX, "--skipInference", f"--timingCacheFile={cache}")
        whole = cache.read_bytes()
        for content in [b"KKTC my own text, not a cache, and long enough for a header", whole[:4], whole[: len(whole) // 2], whole + b"x"]:
            cache.write_bytes(content)
            self.fails("it was left as it is", ONNX, "--skipInference", f"--timingCacheFile={cache}")
            self.assertEqual(cache.read_bytes(), content)
        cache.write_bytes(b"")
        Run(ONNX, "--skipInference", f"--timingCacheFile={cache}")
        self.assertEqual(cache.read_bytes()[:8], whole[:8])

    def test_timing_cache_is_no_pipe(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.fails("is a pipe", ONNX, "--skipInference", f"--timingCacheFile={pipe}")
        self.fails("is a pipe", "--loadEngine=" + str(pipe))

    def test_links_are_kept_and_their_targets_made(self):
        for flag in ["timingCacheFile", "saveEngine"]:
            link, target = self.folder / f"{flag}_link", self.folder / f"{flag}_target"
            link.symlink_to(target.name)
            Run(ONNX, "--skipInference", f"--{flag}={link}")
            self.assertTrue(link.is_symlink())
            self.assertGreater(target.stat().st_size, 0)

    def test_timing_cache_of_another_version_is_replaced(self):
        cache = self.folder / "older.bin"
        Run(ONNX, "--skipInference", f"--timingCacheFile={cache}")
        whole = cache.read_bytes()
        cache.write_bytes(whole[:4] + struct.pack("<I", 999) + whole[8:])
        run = Run(ONNX, "--skipInference", f"--timingCacheFile={cache}")
        self.assertIn("version 999", run.err)
        self.assertEqual(cache.read_bytes()[:8], whole[:8])

    def test_types_without_scales_are_told(self):
        run = Run(ONNX, "--skipInference", "--outputIOFormats=int8:chw")
        self.assertIn("output 'probabilities' is f32 in the network and i8 outside of it", run.err)
        run = Run(ONNX, "--skipInference", "--outputIOFormats=fp16:chw")
        self.assertNotIn("outside of it", run.err)

    def test_terminal_gets_a_bar(self):
        primary, secondary = os.openpty()
        with subprocess.Popen([TRTEXEC, ONNX, "--skipInference"], stdout=secondary, stderr=secondary) as process:
            os.close(secondary)
            text = b""
            try:
                while part := os.read(primary, 65536):
                    text += part
            except OSError:
                pass  # the other end is closed
        os.close(primary)
        self.assertEqual(process.returncode, 0)
        self.assertIn(b" %  ", text)
        self.assertIn(b"\x1b[K", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
