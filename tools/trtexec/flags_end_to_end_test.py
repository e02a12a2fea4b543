#!/usr/bin/env python3
"""trtexec's flags from the outside, beyond what a first run needs: each is seen to do what docs/trtexec.md says.

usage: flags_end_to_end_test.py TRTEXEC DIGITS_FOLDER FOLDER_OF_PLUGIN_LIBRARIES
"""
import json, math, pathlib, re, struct, sys, tempfile, time, unittest

from end_to_end_test import CLASSES, COUNT, DIGITS, ONNX, PIXELS, QUICK, RANGE, Run

TEN_SIX = r"10\.16\.\d+\.\d+"


class Flags(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.plan = cls.folder / "digits.plan"
        cls.images = cls.folder / "images.bin"
        cls.images.write_bytes((DIGITS / "heldout.bin").read_bytes()[: COUNT * PIXELS * 4])
        Run(ONNX, *RANGE, f"--saveEngine={cls.plan}", "--skipInference")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def outputs(self, *options, **how):
        """The probabilities of the images, and the run."""
        path = self.folder / "outputs.json"
        run = Run(f"--shapes=image:{COUNT}x1x8x8", f"--loadInputs=image:{self.images}", f"--exportOutput={path}", *QUICK, *options, **how)
        return json.loads(path.read_text())[0]["values"], run

    def loaded(self, *options, **how):
        return self.outputs(f"--loadEngine={self.plan}", *options, **how)

    def fails(self, message, *options, **how):
        run = Run(*options, check=False, **how)
        self.assertNotEqual(run.status, 0)
        self.assertIn("&&&& FAILED TensorRT.trtexec", run.out)
        self.assertIn(message, run.err)

    def assert_close(self, a, b, limit):
        self.assertLess(max(abs(x - y) for x, y in zip(a, b, strict=True)), limit)

    def test_ways_to_run_give_the_same_outputs(self):
        wanted, _ = self.loaded()
        for options in [["--useManagedMemory"], ["--allocationStrategy=static"], ["--allocationStrategy=profile"],
                        ["--allocationStrategy=runtime", "--infStreams=2"], ["--asyncFileReader"], ["--useProfile=0"],
                        ["--persistentCacheRatio=0.5"], ["--streams=2"], ["--useRuntime=full"]]:
            self.assertEqual(self.loaded(*options)[0], wanted, options)

    def test_bytes_behind_a_plan_are_refused_however_it_is_read(self):
        longer = self.folder / "longer.plan"
        longer.write_bytes(pathlib.Path(self.plan).read_bytes() + b"x" * 100)
        for options in [[], ["--asyncFileReader"]]:
            self.fails("the 100 behind the plan's end do not belong to it", f"--loadEngine={longer}", *options)

    def test_memory_of_a_context(self):
        _, run = self.loaded("--allocationStrategy=runtime")
        self.assertIn("Only allocated device memory enough for current input shapes: ", run.out)
        _, run = self.loaded("--allocationStrategy=profile")
        self.assertIn("Only allocated device memory enough for current profile: ", run.out)

    def test_sleep_holds_the_device_back(self):
        path = self.folder / "times.json"
        begin = time.monotonic()
        self.loaded("--sleepTime=600", f"--exportTimes={path}")
        self.assertGreater(time.monotonic() - begin, 0.6)
        self.assertLess(json.loads(path.read_text())[0]["endEnqMs"], 500)  # the host did not wait

    def test_raw_bindings(self):
        values, run = self.loaded("--dumpRawBindingsToFile", cwd=self.folder)
        raw = (self.folder / f"probabilities.output.{COUNT}.{CLASSES}.fp32.raw").read_bytes()
        self.assert_close(struct.unpack(f"<{COUNT * CLASSES}f", raw), values, 1e-6)
        self.assertEqual((self.folder / f"image.input.{COUNT}.1.8.8.fp32.raw").read_bytes(), self.images.read_bytes())
        self.assertIn("Writing file for output binding probabilities", run.out)

    def test_plan_version(self):
        run = Run(f"--loadEngine={self.plan}", "--getPlanVersionOnly")
        self.assertRegex(run.out, rf"Plan was created with TensorRT version {TEN_SIX}\n")
        self.assertNotIn("Performance summary", run.out)
        self.fails("is not a plan", f"--loadEngine={self.images}", "--getPlanVersionOnly")
        short = self.folder / "short"
        short.write_bytes(b"ftrt")
        self.fails("is too short to be a plan", f"--loadEngine={short}", "--getPlanVersionOnly")

    def test_time_of_loading(self):
        for options in [[f"--loadEngine={self.plan}"], [ONNX, f"--saveEngine={self.folder}/timed.plan"]]:
            run = Run(*options, "--timeDeserialize")
            self.assertRegex(run.out, r"Total deserialization time = [\d.e+-]+ milliseconds in 20 iterations, average time = ")
            self.assertNotIn("Performance summary", run.out)
        self.fails("the plan cannot be loaded", f"--loadEngine={self.images}", "--timeDeserialize")

    def test_several_profiles(self):
        plan = self.folder / "profiles.plan"
        Run(ONNX, "--profile=0", "--minShapes=image:1x1x8x8", "--optShapes=image:2x1x8x8", "--maxShapes=image:4x1x8x8",
            "--profile=1", "--optShapes=image:16x1x8x8", f"--saveEngine={plan}", "--skipInference")
        self.fails("above profile 0's maximum 4", f"--loadEngine={plan}", f"--shapes=image:{COUNT}x1x8x8", *QUICK)
        values, run = self.outputs(f"--loadEngine={plan}", "--useProfile=1", "--dumpOptimizationProfile")
        self.assert_close(values, self.loaded()[0], 1e-5)
        self.assertIn("Model input image (profile 1): min=16x1x8x8", run.out)
        run = Run(f"--loadEngine={plan}", "--shapes=image:2x1x8x8", *QUICK)
        self.assertIn("2 profiles are in the plan, and the first is used", run.err)
        self.fails("there is no profile 2; the plan has 2", f"--loadEngine={plan}", "--useProfile=2", *QUICK)

    def test_a_build_without_a_cache_of_times(self):
        cache = self.folder / "unused.cache"
        run = Run(ONNX, "--skipInference", "--noBuilderCache", f"--timingCacheFile={cache}")
        self.assertFalse(cache.exists())
        self.assertIn("timingCacheMode: disable", run.out)

    def test_hints_change_no_outputs(self):
        wanted, _ = self.outputs(ONNX)
        hints = ["--maxTactics=2", "--tilingOptimizationLevel=1", "--l2LimitForTiling=1024", "--sparsity=enable", "--directIO",
                 "--distributiveIndependence", "--monitorMemory", "--noCompilationCache", "--preview=+aliasedPluginIO1003,-profileSharing0806",
                 "--hardwareCompatibilityLevel=sameComputeCapability", "--runtimePlatform=SameAsBuild", "--excludeLeanRuntime",
                 "--pluginInstanceNorm", "--enablePluginOverride", "--adjustForDLA", "--consistency", "--allowGPUFallback", "--int4"]
        values, run = self.outputs(ONNX, *hints)
        self.assert_close(values, wanted, 1e-5)
        self.assertIn("memory before the build: ", run.out)
        for said in ["kSPARSE_WEIGHTS", "kDISTRIBUTIVE_INDEPENDENCE", "kDISABLE_COMPILATION_CACHE", "kINT4",
                     "setTilingOptimizationLevel", "--pluginInstanceNorm", "--adjustForDLA", "--consistency",
                     "--excludeLeanRuntime", "--allowGPUFallback"]:
            self.assertIn(said, run.err, said)

    def test_int8_without_ranges_is_told(self):
        run = Run(ONNX, "--int8", "--skipInference")
        self.assertIn("Times are those of an INT8 network; its outputs mean nothing.", run.err)
        self.assertIn("Calibration: Dynamic", run.out)

    def test_fp16_with_a_cache(self):
        cache = self.folder / "large.cache"
        cache.write_text(f"TRT-101600-EntropyCalibration2\npool1: {struct.pack('>f', 1e5 / 127).hex()}\n")
        run = Run(ONNX, "--fp16", f"--calib={cache}", "--skipInference")
        self.assertIn("stays in FP32: tensor 'pool1' reaches 1e+05", run.out)
        self.assertNotIn("--calib does nothing", run.err)

    def test_int8_with_a_cache(self):
        wanted, _ = self.outputs(ONNX)
        cache = self.folder / "digits.cache"
        for algorithm in ["EntropyCalibration2", "MinMaxCalibration"]:
            cache.write_text(f"TRT-101600-{algorithm}\n" + "".join(f"{name}: {struct.pack('>f', most / 127).hex()}\n" for name, most in
                             [("image", 1.0), ("pool1", 3.0), ("flat", 6.5)]))
            values, run = self.outputs(ONNX, "--int8", f"--calib={cache}", "--optShapesCalib=image:4x1x8x8")
            self.assertNotIn("outputs mean nothing", run.err)
            self.assert_close(values, wanted, 0.3)
            self.assertGreaterEqual(self.right(values), COUNT - 1)
        self.fails("No such file or directory", ONNX, "--int8", f"--calib={self.folder}/none.cache")
        cache.write_text("not a cache\n")
        self.fails("a calibration cache begins with 'not a cache'", ONNX, "--int8", f"--calib={cache}")
        cache.write_text("TRT-101600-OwnCalibration\nimage: 3c010a14\n")
        self.fails("is of 'OwnCalibration'; there are EntropyCalibration, EntropyCalibration2,", ONNX, "--int8", f"--calib={cache}")
        cache.write_text("")
        self.fails("digits.cache is empty", ONNX, "--int8", f"--calib={cache}")

    def right(self, values):
        labels = list((DIGITS / "heldout.labels").read_bytes()[:COUNT])
        rows = [values[i * CLASSES : (i + 1) * CLASSES] for i in range(COUNT)]
        return sum(row.index(max(row)) == label for row, label in zip(rows, labels))

    def test_precision_by_layer(self):
        names = self.layer_names()
        wanted, _ = self.outputs(ONNX, "--noTF32")
        choice = ["--fp16", "--precisionConstraints=obey", f"--layerPrecisions=*:fp16,'{names[-1]}':fp32", f"--layerOutputTypes='{names[0]}':fp32"]
        values, run = self.outputs(ONNX, *choice, "--profilingVerbosity=detailed", "--dumpLayerInfo")
        self.assert_close(values, wanted, 2e-2)
        self.assertGreaterEqual(self.right(values), COUNT - 1)
        self.assertIn(f"Set layer {names[-1]} to precision fp32", run.out)
        self.assertIn(f"Set layer {names[1]} to precision fp16", run.out)
        self.assertIn(f"Set output 0 of layer {names[0]} to type fp32", run.out)
        self.assertIn("Precision: FP32+FP16 (obey precision constraints)", run.out)
        self.assertIn(f"required precision f32 of '{names[-1]}'", run.out)
        half = f"layer '{names[0]}': precision f16 cannot be had: BuilderFlag::kFP16 is not set"
        self.fails(half, ONNX, "--precisionConstraints=obey", f"--layerPrecisions='{names[0]}':fp16", "--skipInference")
        run = Run(ONNX, "--precisionConstraints=prefer", f"--layerPrecisions='{names[0]}':fp16", "--skipInference")
        self.assertIn(half, run.err)
        run = Run(ONNX, f"--layerPrecisions='{names[0]}':fp16", "--skipInference")
        self.assertIn("do nothing without --precisionConstraints", run.err)
        self.assertNotIn(half, run.err)

    def test_int8_of_all_layers_that_have_it(self):
        cache = self.folder / "ranges.cache"
        run = Run(ONNX, "--int8", "--skipInference", "--precisionConstraints=obey", "--layerPrecisions=*:int8", "--profilingVerbosity=detailed", "--dumpLayerInfo")
        self.assertIn("required precision i8 of", run.out)
        self.assertIn("that a pattern fits cannot have int8 and are left alone", run.err)
        cache.write_text("TRT-101601-EntropyCalibration2\nimage: 3c010a14\n")
        self.fails("stays in float though its precision is INT8: the range of its input", ONNX, "--int8", f"--calib={cache}", "--skipInference",
                   "--precisionConstraints=obey", "--layerPrecisions=*:int8")

    def layer_names(self):
        """Names of layers in the order of the network, as the builder's log of --layerPrecisions=* has them."""
        run = Run(ONNX, "--skipInference", "--precisionConstraints=prefer", "--layerPrecisions=*:fp32")
        return re.findall(r"Set layer (.+) to precision fp32\n", run.out)

    def test_choices_for_layers_that_are_not_there(self):
        obey = [ONNX, "--skipInference", "--precisionConstraints=obey"]
        self.fails("--layerPrecisions: no layer of the network fits 'nowhere'", *obey, "--layerPrecisions=nowhere:fp32")
        self.fails("--layerOutputTypes: no layer of the network fits 'no*'", *obey, "--layerOutputTypes=no*:fp32")
        self.fails("--layerDeviceTypes: no layer of the network fits 'x'", *obey, "--layerDeviceTypes=x:GPU")
        self.fails("is to run on a DLA, and there is none", ONNX, "--layerDeviceTypes=*:DLA", "--skipInference")
        Run(ONNX, "--layerDeviceTypes=*:GPU", "--skipInference")
        self.fails("2 types are given", *obey, "--layerOutputTypes=*:fp32+fp32")
        self.fails("--decomposableAttentions: no attention of the network fits 'a'", ONNX, "--decomposableAttentions=a", "--skipInference")

    def test_dla(self):
        self.fails("--useDLACore: there is no DLA", ONNX, "--useDLACore=0")
        values, run = self.outputs(ONNX, "--useDLACore=0", "--allowGPUFallback")
        self.assert_close(values, self.outputs(ONNX)[0], 2e-2)

    def test_command_lines_of_older_releases(self):
        run = Run(ONNX, "--explicitBatch", "--workspace=64", "--buildOnly", "--nvtxMode=default", "--minTiming=2")
        self.assertIn("Skipped inference phase", run.out)
        self.assertIn("Memory Pools: workspace: 64 MiB", run.out)
        self.assertIn("--workspace is a flag of older releases; it means --memPoolSize=workspace:64", run.err)

    def test_debug_tensors(self):
        """Files of marked tensors: conv1 is inside of a step, logits and the output are not."""
        folder = self.folder / "debug"
        folder.mkdir()
        plan = folder / "marked.plan"
        shapes = [f"--shapes=image:{COUNT}x1x8x8", f"--loadInputs=image:{self.images}", *QUICK]
        wanted, _ = self.loaded()
        values, run = self.outputs(ONNX, *RANGE, "--markDebug=conv1,logits,probabilities,image", f"--saveEngine={plan}",
                                   f"--saveDebugTensors=logits:{folder}/logits.raw,image:{folder}/image.raw")
        self.assertIn("Wrote 2 values of debug tensors", run.out)
        self.assert_close(values, wanted, 1e-5)
        self.assertEqual((folder / "image.raw").read_bytes(), self.images.read_bytes())
        logits = struct.unpack(f"{COUNT * CLASSES}f", (folder / "logits.raw").read_bytes())
        for row in range(COUNT):
            part = [math.exp(value) for value in logits[row * CLASSES : (row + 1) * CLASSES]]
            self.assert_close([value / sum(part) for value in part], values[row * CLASSES : (row + 1) * CLASSES], 1e-5)
        Run(f"--loadEngine={plan}", *shapes, "--saveAllDebugTensors=summary,numpy,string,raw", cwd=folder)
        summary = json.loads((folder / "tensor_summary.json").read_text())["tensors"]
        self.assertEqual([entry["name"] for entry in summary], ["image", "conv1", "logits", "probabilities"])
        self.assertEqual(summary[2]["shape"], [COUNT, CLASSES])
        self.assertAlmostEqual(summary[2]["statistics"]["max"], max(logits), 4)
        for entry in summary:
            self.assertEqual(sorted(entry["files"]), ["numpy", "raw", "string"])
            raw = (folder / entry["files"]["raw"]).read_bytes()
            numpy = (folder / entry["files"]["numpy"]).read_bytes()
            self.assertTrue(numpy.startswith(b"\x93NUMPY") and numpy.endswith(raw))
            numbers = re.findall(r"[^][\s]+", (folder / entry["files"]["string"]).read_text())
            self.assert_close([float(number) for number in numbers], struct.unpack(f"{len(raw) // 4}f", raw), 1e-6)

    def test_unfused_debug_tensors(self):
        folder = self.folder / "unfused"
        folder.mkdir()
        plan = folder / "unfused.plan"
        Run(ONNX, *RANGE, "--markUnfusedTensorsAsDebugTensors", f"--saveEngine={plan}", "--skipInference")
        Run(f"--loadEngine={plan}", f"--shapes=image:{COUNT}x1x8x8", *QUICK, "--saveAllDebugTensors=summary", cwd=folder)
        summary = json.loads((folder / "tensor_summary.json").read_text())["tensors"]
        self.assertEqual(summary[-1]["name"], "probabilities")
        self.assertEqual([path.name for path in folder.glob("*.npy")], [])

    def test_unfused_debug_tensors_within_a_loop(self):
        folder = self.folder / "loop"
        folder.mkdir()
        loop = f"--onnx={pathlib.Path(__file__).parents[2]}/fuzz/seeds/onnx_reader/loop_if.onnx"  # 5 times, with a branch
        Run(loop, "--shapes=x:2,v0:2", *QUICK, "--markUnfusedTensorsAsDebugTensors", "--saveAllDebugTensors=summary,raw", cwd=folder)
        summary = json.loads((folder / "tensor_summary.json").read_text())["tensors"]
        names = [entry["name"] for entry in summary]
        self.assertEqual((names.count("v1"), names.count("a") + names.count("b"), names[-1]), (5, 5, "vf"))
        last = [entry for entry in summary if entry["name"] == "v1"][-1]["files"]["raw"]
        self.assertEqual((folder / last).read_bytes(), (folder / summary[-1]["files"]["raw"]).read_bytes())

    def test_debug_tensors_that_are_not_there(self):
        self.fails("--markDebug: the network has no tensor 'conv9'", ONNX, *RANGE, "--markDebug=conv1,conv9")
        self.fails("--saveDebugTensors: 'conv1' is no debug tensor of the engine", f"--loadEngine={self.plan}",
                   f"--shapes=image:{COUNT}x1x8x8", *QUICK, f"--saveDebugTensors=conv1:{self.folder}/c.raw")
        shapes = f"--shapes=image:{COUNT}x1x8x8"
        self.fails("--saveAllDebugTensors: the run has shown no debug tensor, so nothing was written; the engine was built without --markDebug",
                   f"--loadEngine={self.plan}", shapes, *QUICK, "--saveAllDebugTensors=summary", cwd=self.folder)
        self.assertFalse((self.folder / "tensor_summary.json").exists())
        told = Run(f"--loadEngine={self.plan}", shapes, *QUICK, "--markDebug=conv1")
        self.assertIn("--markDebug does nothing beside --loadEngine: nothing is built", told.out + told.err)
        self.fails("--saveDebugTensors: cannot write /nowhere/c.raw", ONNX, *RANGE, *QUICK, "--markDebug=conv1",
                   "--saveDebugTensors=conv1:/nowhere/c.raw")

    def test_what_kiln_lacks_is_named(self):
        for flag, lacks in [("--refit", "the weights of an engine cannot be replaced"), ("--stripWeights", "a plan holds all of its weights"),
                            ("--safe", "there are no builds for the safety runtime")]:
            self.fails(f"flag {flag.split('=')[0]} is not in Kiln yet: {lacks}", ONNX, flag)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
