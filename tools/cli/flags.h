/// A program's flags as a table, from which its help is made and its command line is read.
#pragma once

#include <climits>
#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text.h"

namespace kiln::cli {

enum class Given { kOnce, kOften };  ///< how often a flag may be

struct Flag {
  std::string_view name;     ///< with its dashes
  std::string_view value;    ///< what stands behind '=' in the help; empty: the flag is a switch
  std::string_view section;  ///< its heading in the help
  std::string_view help;
  Given given = Given::kOnce;
  std::string_view lacks = "";  ///< what Kiln lacks that the flag needs; empty: the flag works
};

struct FlagTable {
  std::span<const Flag> flags;  ///< section after section
};

/// The arguments of a command line.
class Arguments {
 public:
  /// Reads "--name=value" and "--name"; a switch may also be given as "--name=true" or "--name=1". Fails at a name that
  /// is unknown (with the nearest one) or given twice though it may be once, at a value that is missing and at one that
  /// is too much.
  Arguments(std::span<const char* const> words, const FlagTable& table);

  std::span<const std::string> operands() const { return operands_; }  ///< the words without a dash
  std::span<const Flag* const> flags() const { return flags_; }        ///< those given, in order
  std::string_view value(size_t flag) const { return values_[flag]; }  ///< of an entry of flags()
  /// Fails at the first flag that needs what Kiln lacks. To be called when all values have been checked.
  void refuse_lacking() const;

  const std::string* find(std::string_view name) const;       ///< a flag's value; null if it is not given
  std::vector<std::string> all(std::string_view name) const;  ///< its values, in order, if it may be given often
  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::string text(std::string_view name, std::string_view otherwise = "") const;

  /// Leaves the number as it is if the flag is not given. Fails at what is no number within the limits.
  template <std::integral T>
  void read(std::string_view name, T& number, int64_t least, int64_t most = INT_MAX) const {
    const std::string* value = find(name);
    if (!value) return;
    const int64_t read = parse_int(*value, name);
    require(read >= least && read <= most, name, ": ", read, " is outside [", least, ", ", most, "]");
    number = static_cast<T>(read);
  }
  void read(std::string_view name, double& number, double least) const;

 private:
  std::vector<std::string> operands_;
  std::vector<const Flag*> flags_;
  std::vector<std::string> values_;  ///< of flags_
};

/// Whether --help or -h is among the words, whatever is wrong with the others.
bool wants_help(std::span<const char* const> words);

/// The flags by section, below what the program says of itself and what is said of SHAPES in each.
std::string help_text(std::string_view about, const FlagTable& table);

}  // namespace kiln::cli
