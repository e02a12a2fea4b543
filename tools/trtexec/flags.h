/// The flags of TensorRT's trtexec as a table: those that work here, with their help, and those that do not yet.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::cli::trtexec {

enum class Section { kModel, kBuild, kInference, kReport, kSystem, kNotYet };

struct Flag {
  std::string_view name;   ///< with its dashes
  std::string_view value;  ///< what stands behind '=' in the help; empty: the flag is a switch
  Section section;
  std::string_view help;
};

std::span<const Flag> all_flags();
const Flag* find_flag(std::string_view name);  ///< null if TensorRT has none of that name

struct Argument {
  const Flag* flag;
  std::string value;
};

/// "--name=value" and "--name" as given. Fails at a name that is unknown (with the nearest one), not in Kiln yet or
/// given twice, at a value that is missing and at one that is too much.
std::vector<Argument> parse_arguments(std::span<const char* const> words);

std::string help_text();

}  // namespace kiln::cli::trtexec
