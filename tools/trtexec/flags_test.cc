#include "flags.h"

#include <gtest/gtest.h>

#include <set>

#include "cli/expect_failure.h"

namespace kiln::cli::trtexec {
namespace {

std::vector<Argument> parse(std::vector<const char*> words) { return parse_arguments(words); }
std::string failure(std::vector<const char*> words) {
  return failure_of([&] { parse(words); });
}

TEST(Flags, ReadsSwitchesAndValues) {
  const auto arguments = parse({"--onnx=a=b.onnx", "--fp16"});
  ASSERT_EQ(arguments.size(), 2u);
  EXPECT_EQ(arguments[0].flag->name, "--onnx");
  EXPECT_EQ(arguments[0].value, "a=b.onnx");
  EXPECT_EQ(arguments[1].flag->name, "--fp16");
}

TEST(Flags, SuggestsTheNearest) {
  EXPECT_EQ(failure({"--loadEngin=x"}), "unknown flag --loadEngin; did you mean --loadEngine?");
  EXPECT_EQ(failure({"--nodatatransfers"}), "unknown flag --nodatatransfers; did you mean --noDataTransfers?");
  EXPECT_EQ(failure({"--zebra"}), "unknown flag --zebra; --help lists all");
  EXPECT_EQ(failure({"m.onnx"}), "'m.onnx' is no flag; values follow their flag as in --onnx=model.onnx");
}

TEST(Flags, SaysWhatIsNotThereYet) {
  EXPECT_EQ(failure({"--int8"}), "flag --int8 of TensorRT's trtexec is not in Kiln yet");
  EXPECT_EQ(failure({"--layerPrecisions=*:fp16"}), "flag --layerPrecisions of TensorRT's trtexec is not in Kiln yet");
}

TEST(Flags, SaysWhatIsWrongWithValues) {
  EXPECT_EQ(failure({"--onnx"}), "flag --onnx needs a value: --onnx=FILE");
  EXPECT_EQ(failure({"--onnx="}), "flag --onnx needs a value: --onnx=FILE");
  EXPECT_EQ(failure({"--fp16=false"}), "flag --fp16 is a switch and takes no value; 'false' was given");
  EXPECT_EQ(failure({"--fp16", "--fp16"}), "flag --fp16 is given twice");
}

TEST(Flags, TableHasEveryNameOnceAndHelpForWhatWorks) {
  std::set<std::string_view> names;
  const std::string help = help_text();
  for (const Flag& flag : all_flags()) {
    EXPECT_TRUE(names.insert(flag.name).second) << flag.name;
    EXPECT_EQ(flag.help.empty(), flag.section == Section::kNotYet) << flag.name;
    EXPECT_NE(help.find(flag.name), std::string::npos) << flag.name;
  }
}

}  // namespace
}  // namespace kiln::cli::trtexec
