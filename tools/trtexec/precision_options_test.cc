#include "precision_options.h"

#include <gtest/gtest.h>

#include "cli/expect_failure.h"
#include "options.h"

namespace kiln::cli::trtexec {
namespace {

using nvinfer1::DataType;
using Types = std::vector<DataType>;

Options parse(std::vector<const char*> words) {
  words.insert(words.begin(), "--onnx=m");
  return parse_options(words);
}
PrecisionOptions precision(std::vector<const char*> words) { return parse(std::move(words)).build.precision; }
std::string failure(std::vector<const char*> words) {
  return failure_of([&] { parse(words); });
}

TEST(PrecisionOptions, Switches) {
  const PrecisionOptions all = precision({"--fp16", "--bf16", "--int8", "--int4", "--noTF32"});
  EXPECT_TRUE(all.fp16 && all.bf16 && all.int8 && all.int4 && !all.fp8 && !all.tf32);
  EXPECT_EQ(describe(all), "FP32+FP16+BF16+INT8+INT4");
  EXPECT_TRUE(precision({"--fp8"}).fp8);
  const PrecisionOptions best = precision({"--best"});
  EXPECT_TRUE(best.fp16 && best.bf16 && best.int8 && !best.fp8);
  EXPECT_EQ(failure({"--fp8", "--int8"}), "--fp8 and --int8 exclude each other");
  EXPECT_EQ(failure({"--fp8", "--best"}), "--fp8 and --int8 (which --best implies) exclude each other");
  EXPECT_EQ(failure({"--best", "--stronglyTyped"}),
            "--best and --stronglyTyped exclude each other: the builder chooses types, or the network has them");
}

TEST(PrecisionOptions, StronglyTypedOverridesPrecisions) {
  const Options options = parse({"--stronglyTyped", "--fp16", "--int8"});
  EXPECT_FALSE(options.build.precision.fp16 || options.build.precision.int8);
  EXPECT_EQ(options.warnings,
            (std::vector<std::string>{"--stronglyTyped takes all types from the network: --fp16 is ignored",
                                      "--stronglyTyped takes all types from the network: --int8 is ignored"}));
  EXPECT_EQ(failure({"--stronglyTyped", "--precisionConstraints=obey", "--layerPrecisions=x:fp32"}),
            "--layerPrecisions and --layerOutputTypes: the network is strongly typed, so that it has all types itself");
}

TEST(PrecisionOptions, ChoicesForLayers) {
  const PrecisionOptions options =
      precision({"--precisionConstraints=obey", "--layerPrecisions=*:fp16,'a:b':fp32,soft*:fp32,softmax_1:bf16",
                 "--layerOutputTypes=split:fp16+fp32,*:fp32", "--layerDeviceTypes=*:GPU"});
  EXPECT_EQ(options.constraints, PrecisionConstraints::kObey);
  EXPECT_EQ(*choice_for(options.layers, "conv"), DataType::kHALF);
  EXPECT_EQ(*choice_for(options.layers, "a:b"), DataType::kFLOAT);
  EXPECT_EQ(*choice_for(options.layers, "softmax_2"), DataType::kFLOAT);
  EXPECT_EQ(*choice_for(options.layers, "softmax_1"), DataType::kBF16);
  EXPECT_EQ(*choice_for(options.outputs, "split"), (Types{DataType::kHALF, DataType::kFLOAT}));  // its very name
  EXPECT_EQ(*choice_for(options.outputs, "conv"), Types{DataType::kFLOAT});
  EXPECT_EQ(choice_for(LayerChoices<DataType>{{"a", DataType::kHALF}}, "b"), nullptr);
  EXPECT_EQ(describe(options), "FP32 (obey precision constraints)");
  const PrecisionOptions again = precision({"--precisionConstraints=prefer", "--layerPrecisions=x:fp16,x:fp32"});
  EXPECT_EQ(*choice_for(again.layers, "x"), DataType::kFLOAT);  // the later one
}

TEST(PrecisionOptions, SaysWhatIsWrong) {
  EXPECT_EQ(failure({"--precisionConstraints=maybe"}), "--precisionConstraints: 'maybe' must be none, prefer or obey");
  EXPECT_EQ(failure({"--layerPrecisions=x"}), "--layerPrecisions: 'x' has no value; name:value is expected");
  EXPECT_NE(failure({"--layerPrecisions=x:half"}).find("--layerPrecisions: 'half' is not a type; there are fp32, fp16"),
            std::string::npos);
  EXPECT_EQ(failure({"--layerPrecisions=*x*:fp16"}), "--layerPrecisions: '*x*' has more than one '*'");
  EXPECT_EQ(failure({"--layerDeviceTypes=x:CPU"}), "--layerDeviceTypes: 'CPU' is neither GPU nor DLA");
  EXPECT_EQ(parse({"--layerPrecisions=x:fp16"}).warnings,
            std::vector<std::string>{
                "--layerPrecisions and --layerOutputTypes do nothing without --precisionConstraints=prefer or obey"});
  EXPECT_EQ(
      parse({"--precisionConstraints=obey"}).warnings,
      std::vector<std::string>{"--precisionConstraints does nothing without --layerPrecisions or --layerOutputTypes"});
}

TEST(PrecisionOptions, Calibration) {
  const PrecisionOptions options = precision({"--int8", "--calib=c.cache", "--optShapesCalib=x:4x3"});
  EXPECT_EQ(options.calibration_cache, "c.cache");
  ASSERT_EQ(options.calibration_shapes.size(), 1u);
  EXPECT_EQ(options.calibration_shapes[0].second.opt, (Extents{4, 3}));
  EXPECT_EQ(parse({"--calib=c.cache"}).warnings,
            std::vector<std::string>{"--calib does nothing without --int8 or --fp16"});
  EXPECT_EQ(parse({"--fp16", "--calib=c.cache"}).warnings, std::vector<std::string>()) << "it tells what leaves FP16";
  EXPECT_EQ(parse({"--calibProfile=0", "--optShapesCalib=x:1"}).warnings,
            std::vector<std::string>{"--calibProfile does nothing beside --optShapesCalib"});
  EXPECT_EQ(failure({"--calibProfile=1"}), "--calibProfile: there is no profile 1; 1 are built, counted from 0");
  EXPECT_EQ(failure({"--minShapesCalib=x:1", "--optShapesCalib=x:1"}),
            "give --optShapesCalib alone, or all of --minShapesCalib, --optShapesCalib and --maxShapesCalib");
}

}  // namespace
}  // namespace kiln::cli::trtexec
