#include "flags.h"

#include <strings.h>

#include <algorithm>

namespace kiln::cli {
namespace {

constexpr size_t kHelpColumn = 36;
constexpr std::string_view kHelpForAll =
    "\nSHAPES is a list of tensors' shapes, such as x:1x3x224x224,y:4, or of shape tensors' values. 'scalar' is a "
    "shape\n"
    "without extents; a name with colons or commas goes in single quotes; '*' in a name stands for any text.\n"
    "The environment variable KILN_THREADS sets the number of threads on the CPU.\n";

[[noreturn]] void fail_unknown(std::string_view word, const FlagTable& table) {
  std::vector<std::string_view> names;
  for (const Flag& flag : table.flags)
    if (flag.name.size() > 2) names.push_back(flag.name);
  const std::string_view guess = nearest(word, names);
  require(guess.empty(), "unknown flag ", word, "; did you mean ", guess, "?");
  fail("unknown flag ", word, "; --help lists all");
}

const Flag& find_flag(std::string_view name, const FlagTable& table) {
  const auto found = std::ranges::find(table.flags, name, &Flag::name);
  if (found != table.flags.end()) return *found;
  fail_unknown(name, table);
}

/// Whether a switch with this value is on. TensorRT's trtexec takes every value as "on", also 'false'; that is refused
/// here, since it is not what its author meant.
bool is_on(std::string_view value) {
  return value.size() == 4 ? ::strncasecmp(value.data(), "true", 4) == 0 : value == "1";
}

}  // namespace

Arguments::Arguments(std::span<const char* const> words, const FlagTable& table) {
  for (const std::string_view word : words) {
    if (!word.starts_with('-')) {
      operands_.emplace_back(word);
      continue;
    }
    const size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals), value = word.substr(std::min(equals, word.size() - 1) + 1);
    const Flag& flag = find_flag(name, table);
    if (flag.value.empty())
      require(equals == word.npos || is_on(value), "flag ", name, " is a switch: '", value,
              "' was given, and only 'true' or '1' may be; to leave it off, leave it out");
    else
      require(!trim(value).empty(), "flag ", name, " needs a value: ", name, "=", flag.value);
    require(flag.given == Given::kOften || !has(name), "flag ", name, " is given twice");
    flags_.push_back(&flag);
    values_.emplace_back(value);
  }
}

const std::string* Arguments::find(std::string_view name) const {
  const auto found = std::ranges::find(flags_, name, &Flag::name);
  return found == flags_.end() ? nullptr : &values_[static_cast<size_t>(found - flags_.begin())];
}

std::vector<std::string> Arguments::all(std::string_view name) const {
  std::vector<std::string> values;
  for (size_t i = 0; i < flags_.size(); ++i)
    if (flags_[i]->name == name) values.emplace_back(trim(values_[i]));
  return values;
}

void Arguments::refuse_lacking() const {
  for (const Flag* flag : flags_)
    require(flag->lacks.empty(), "flag ", flag->name, " is not in Kiln yet: ", flag->lacks);
}

std::string Arguments::text(std::string_view name, std::string_view otherwise) const {
  const std::string* value = find(name);
  return std::string(value ? trim(*value) : otherwise);
}

void Arguments::read(std::string_view name, double& number, double least) const {
  const std::string* value = find(name);
  if (!value) return;
  number = parse_number(*value, name);
  require(number >= least, name, ": ", number, " is less than ", least);
}

bool wants_help(std::span<const char* const> words) {
  return std::ranges::any_of(words, [](std::string_view word) { return word == "--help" || word == "-h"; });
}

std::string help_text(std::string_view about, const FlagTable& table) {
  std::string text = str(about, kHelpForAll);
  std::string_view section;
  for (const Flag& flag : table.flags) {
    if (flag.section != section) text += str("\n=== ", flag.section, " ===\n");
    section = flag.section;
    std::string line = str("  ", flag.name, flag.value.empty() ? "" : "=", flag.value);
    line.resize(std::max(line.size() + 1, kHelpColumn), ' ');
    text += str(line, flag.help, flag.lacks.empty() ? "" : " (not in Kiln yet)", "\n");
  }
  return text;
}

}  // namespace kiln::cli
