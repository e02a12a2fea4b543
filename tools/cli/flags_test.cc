#include "flags.h"

#include <gtest/gtest.h>

#include "expect_failure.h"

namespace kiln::cli {
namespace {

constexpr Flag kFlags[] = {{"--onnx", "FILE", "Model", "the network"},
                           {"--loadEngine", "FILE", "Model", "a plan"},
                           {"--fp16", "", "Build", "allow halves"},
                           {"--noDataTransfers", "", "Run", "copy once"},
                           {"--runs", "N", "Run", "run this often"},
                           {"--with", "FILE", "Run", "use this, too", Given::kOften},
                           {"--help", "", "Run", "print this text"},
                           {"-h", "", "Run", "print this text"},
                           {"--refit", "", "Build", "refittable weights", Given::kOnce, "weights cannot be replaced"}};
constexpr FlagTable kTable{kFlags};

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
  EXPECT_EQ(failure({"--refiit"}), "unknown flag --refiit; did you mean --refit?");
  EXPECT_EQ(failure({"--zebra"}), "unknown flag --zebra; --help lists all");
}

TEST(Flags, SaysWhatIsNotThereYet) {
  const Arguments arguments = parse({"--fp16", "--refit"});  // so that other values are checked first
  EXPECT_EQ(failure_of([&] { arguments.refuse_lacking(); }),
            "flag --refit is not in Kiln yet: weights cannot be replaced");
  parse({"--fp16"}).refuse_lacking();
}

TEST(Flags, SaysWhatIsWrongWithValues) {
  EXPECT_EQ(failure({"--onnx"}), "flag --onnx needs a value: --onnx=FILE");
  EXPECT_EQ(failure({"--onnx="}), "flag --onnx needs a value: --onnx=FILE");
  EXPECT_EQ(failure({"--fp16=false"}),
            "flag --fp16 is a switch: 'false' was given, and only 'true' or '1' may be; to leave it off, leave it out");
  EXPECT_NE(failure({"--fp16="}).find("flag --fp16 is a switch: '' was given"), std::string::npos);
  for (const char* on : {"--fp16=true", "--fp16=1", "--fp16=True"}) EXPECT_TRUE(parse({on}).has("--fp16")) << on;
  EXPECT_EQ(failure({"--fp16", "--fp16"}), "flag --fp16 is given twice");
}

TEST(Flags, HelpIsAskedForWhateverElseIsWrong) {
  const char* const words[] = {"--zebra", "-h"};
  EXPECT_TRUE(wants_help(words));
  EXPECT_FALSE(wants_help(std::span(words).first(1)));
}

TEST(Flags, HelpHasSections) {
  const Flag flags[] = {kFlags[0], kFlags[1], kFlags[2], kFlags[8]};
  const std::string help = help_text("about\n", {flags});
  EXPECT_TRUE(help.starts_with("about\n\nSHAPES is a list")) << help;
  EXPECT_EQ(help.substr(help.find("\n\n=== ") + 1),
            "\n=== Model ===\n"
            "  --onnx=FILE                       the network\n"
            "  --loadEngine=FILE                 a plan\n"
            "\n=== Build ===\n"
            "  --fp16                            allow halves\n"
            "  --refit                           refittable weights (not in Kiln yet)\n");
}

}  // namespace
}  // namespace kiln::cli
