/// Flags that trtexec had in TensorRT 7 to 9 and that are gone from TensorRT 10's.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::cli::trtexec {

/// What became of a flag.
enum class Fate {
  kReplaced,  ///< another flag says the same; it is used instead
  kNeedless,  ///< what it asked for is how it always is
  kGone       ///< what it asked for is no more
};
struct OldFlag {
  std::string_view name;
  Fate fate;
  std::string_view now;  ///< of kReplaced: the flag of today, up to its value; else the reason
};
std::span<const OldFlag> old_flags();

/// The words with flags of today in the place of old ones, which `warnings` names. Fails at a flag whose meaning is
/// gone.
std::vector<std::string> without_old_flags(std::span<const char* const> words, std::vector<std::string>& warnings);

}  // namespace kiln::cli::trtexec
