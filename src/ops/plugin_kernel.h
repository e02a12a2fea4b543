/// The kernel of a plugin that compiled one ahead of time: a device launches it without the plugin.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/record.h"
#include "sym/expr.h"

namespace kiln {

/// The numbers of a launch, in the order in which plans have them.
enum class LaunchNumber : uint8_t { kGridX, kGridY, kGridZ, kBlockX, kBlockY, kBlockZ, kSharedBytes };
inline constexpr std::array<std::string_view, 7> kLaunchNumberNames = {"grid x",  "grid y",  "grid z",       "block x",
                                                                       "block y", "block z", "shared memory"};
inline constexpr int kNumLaunchNumbers = static_cast<int>(kLaunchNumberNames.size());

/// Its arguments are the addresses of the inputs, then the scalars, then the addresses of the outputs.
struct PluginKernel {
  std::string entry;                                ///< its name in the code
  Bytes code;                                       ///< a cubin, or PTX, which ends with a 0
  std::array<sym::Expr, kNumLaunchNumbers> launch;  ///< by LaunchNumber
  std::vector<sym::Expr> scalars;                   ///< signed integers
  std::vector<int> scalar_bytes;                    ///< of each: 1, 2 or 4
};

}  // namespace kiln
