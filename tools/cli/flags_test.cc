#include "flags.h"

#include <gtest/gtest.h>

#include "expect_failure.h"

namespace kiln::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--onnx", "FILE", "Model", "the network"}, {"--loadEngine", "FILE", "Model", "a plan"},
    {"--fp16", "", "Build", "allow halves"},    {"--noDataTransfers", "", "Run", "copy once"},
    {"--runs", "N", "Run", "run this often"},   {"--with", "FILE", "Run", "use this, too", Given::kOften},
    {"--help", "", "Run", "print this text"},   {"-h", "", "Run", "print this text"}};
constexpr FlagTable kTable{kFlags, "--int8 --layerPrecisions"};

Arguments parse(std::vector<const char*> words) { return {words, kTable}; }
std::string failure(std::vector<const char*> words) {
  return failure_of([&] { parse(words); });
}

TEST(Flags, ReadsOperandsSwitchesAndValues) {
  const Arguments arguments = parse({"profile", "--onnx=a=b.onnx", "--fp16", "m.onnx"});
  EXPECT_EQ(std::vector(arguments.operands().begin(), arguments.operands().end()),
            (std::vector<std::string>{"profile", "m.onnx"}));
  ASSERT_EQ(arguments.flags().size(), 2u);
  EXPECT_EQ(arguments.flags()[1]->name, "--fp16");
  EXPECT_EQ(*arguments.find("--onnx"), "a=b.onnx");
  EXPECT_TRUE(arguments.has("--fp16"));
  EXPECT_FALSE(arguments.has("--runs"));
  EXPECT_EQ(parse({"--onnx= a b "}).text("--onnx"), "a b");
  EXPECT_EQ(parse({}).text("--onnx", "none"), "none");
}

TEST(Flags, MayBeGivenOftenIfTheTableSaysSo) {
  EXPECT_EQ(parse({"--with=b", "--onnx=m", "--with= a "}).all("--with"), (std::vector<std::string>{"b", "a"}));
  EXPECT_TRUE(parse({"--onnx=m"}).all("--with").empty());
  EXPECT_EQ(failure({"--onnx=m", "--onnx=m"}), "flag --onnx is given twice");
}

TEST(Flags, NumbersAreWholeAndWithinTheirLimits) {
  int runs = 20;
  parse({}).read("--runs", runs, 1);
  EXPECT_EQ(runs, 20);
  parse({"--runs=12"}).read("--runs", runs, 1);
  EXPECT_EQ(runs, 12);
  const auto failure = [&](const char* word) { return failure_of([&] { parse({word}).read("--runs", runs, 1); }); };
  EXPECT_EQ(failure("--runs=x"), "--runs: 'x' is not a whole number");
  EXPECT_EQ(failure("--runs=1.5"), "--runs: '1.5' is not a whole number");
  EXPECT_EQ(failure("--runs=0"), "--runs: 0 is outside [1, 2147483647]");
}

TEST(Flags, SuggestsTheNearest) {
  EXPECT_EQ(failure({"--loadEngin=x"}), "unknown flag --loadEngin; did you mean --loadEngine?");
  EXPECT_EQ(failure({"--nodatatransfers"}), "unknown flag --nodatatransfers; did you mean --noDataTransfers?");
  EXPECT_EQ(failure({"--layerPrecision=x"}), "unknown flag --layerPrecision; did you mean --layerPrecisions?");
  EXPECT_EQ(failure({"--zebra"}), "unknown flag --zebra; --help lists all");
}

TEST(Flags, SaysWhatIsNotThereYet) {
  EXPECT_EQ(failure({"--int8"}), "flag --int8 of TensorRT's trtexec is not in Kiln yet");
  EXPECT_EQ(failure({"--layerPrecisions=*:fp16"}), "flag --layerPrecisions of TensorRT's trtexec is not in Kiln yet");
}

TEST(Flags, SaysWhatIsWrongWithValues) {
  EXPECT_EQ(failure({"--onnx"}), "flag --onnx needs a value: --onnx=FILE");
  EXPECT_EQ(failure({"--onnx="}), "flag --onnx needs a value: --onnx=FILE");
  EXPECT_EQ(failure({"--fp16=false"}), "flag --fp16 is a switch and takes no value; 'false' was given");
  EXPECT_EQ(failure({"--fp16="}), "flag --fp16 is a switch and takes no value; '' was given");
  EXPECT_EQ(failure({"--fp16", "--fp16"}), "flag --fp16 is given twice");
}

TEST(Flags, HelpIsAskedForWhateverElseIsWrong) {
  const char* const words[] = {"--zebra", "-h"};
  EXPECT_TRUE(wants_help(words));
  EXPECT_FALSE(wants_help(std::span(words).first(1)));
}

TEST(Flags, HelpHasSections) {
  const std::string help = help_text("about\n", {std::span(kFlags).first(3), "--int8 --layerPrecisions"});
  EXPECT_TRUE(help.starts_with("about\n\nSHAPES is a list")) << help;
  EXPECT_EQ(help.substr(help.find("\n\n=== ") + 1),
            "\n=== Model ===\n"
            "  --onnx=FILE                       the network\n"
            "  --loadEngine=FILE                 a plan\n"
            "\n=== Build ===\n"
            "  --fp16                            allow halves\n"
            "\n=== Flags of TensorRT that are not in Kiln yet ===\n"
            "  --int8 --layerPrecisions\n");
}

}  // namespace
}  // namespace kiln::cli
