#include "flags.h"

#include <algorithm>

#include "cli/text.h"
#include "flag_table.h"

namespace kiln::cli::trtexec {
namespace {

constexpr size_t kHelpColumn = 36;

constexpr std::pair<Section, std::string_view> kSections[] = {
    {Section::kModel, "Model"},    {Section::kBuild, "Build"},   {Section::kInference, "Inference"},
    {Section::kReport, "Reports"}, {Section::kSystem, "System"},
};

[[noreturn]] void fail_unknown(std::string_view word) {
  require(word.starts_with("-"), "'", word, "' is no flag; values follow their flag as in --onnx=model.onnx");
  std::vector<std::string_view> names;
  for (const Flag& flag : all_flags())
    if (flag.name.size() > 2) names.push_back(flag.name);
  const std::string_view guess = nearest(word, names);
  require(guess.empty(), "unknown flag ", word, "; did you mean ", guess, "?");
  fail("unknown flag ", word, "; --help lists all");
}

Argument parse_argument(std::string_view word) {
  const size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const Flag* flag = find_flag(name);
  if (!flag) fail_unknown(name);
  require(flag->section != Section::kNotYet, "flag ", name, " of TensorRT's trtexec is not in Kiln yet");
  const std::string_view value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
  if (flag->value.empty()) {
    require(equals == std::string_view::npos, "flag ", name, " is a switch and takes no value; '", value,
            "' was given");
  } else {
    require(!trim(value).empty(), "flag ", name, " needs a value: ", name, "=", flag->value);
  }
  return {flag, std::string(value)};
}

}  // namespace

std::span<const Flag> all_flags() { return kFlags; }

const Flag* find_flag(std::string_view name) {
  const auto found = std::ranges::find(kFlags, name, &Flag::name);
  return found == std::end(kFlags) ? nullptr : found;
}

std::vector<Argument> parse_arguments(std::span<const char* const> words) {
  std::vector<Argument> arguments;
  for (const char* word : words) {
    Argument argument = parse_argument(word);
    const bool twice = std::ranges::any_of(arguments, [&](const Argument& a) { return a.flag == argument.flag; });
    require(!twice, "flag ", argument.flag->name, " is given twice");
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

std::string help_text() {
  std::string text =
      "trtexec builds a plan from an ONNX file, or loads one, runs it and reports its speed.\n\n"
      "  trtexec --onnx=model.onnx --saveEngine=model.plan\n"
      "  trtexec --loadEngine=model.plan --shapes=x:8x3x224x224 --exportTimes=times.json\n\n"
      "SHAPES is a list such as x:1x3x224x224,y:4 of tensors' shapes, or the values of shape tensors; 'scalar' is a\n"
      "shape without extents, a name with colons or commas goes in single quotes, '*' in a name stands for any text.\n";
  for (const auto& [section, title] : kSections) {
    text += str("\n=== ", title, " ===\n");
    for (const Flag& flag : kFlags) {
      if (flag.section != section) continue;
      std::string line = str("  ", flag.name, flag.value.empty() ? "" : "=", flag.value);
      line.resize(std::max(line.size() + 1, kHelpColumn), ' ');
      text += str(line, flag.help, "\n");
    }
  }
  text +=
      "\nThe number of threads on a machine without a GPU is KILN_THREADS of the environment.\n\n"
      "=== Flags of TensorRT that are not in Kiln yet ===\n";
  std::string line = " ";
  for (const Flag& flag : kFlags) {
    if (flag.section != Section::kNotYet) continue;
    if (line.size() + flag.name.size() > 110) {
      text += line + "\n";
      line.assign(1, ' ');
    }
    line += str(" ", flag.name);
  }
  return text + line + "\n";
}

}  // namespace kiln::cli::trtexec
