/// Loaded steps that pack constants: their runs read a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "steps/executor.h"

namespace kiln {

/// How runs of a loaded step get at a constant that `load` was given.
enum class ConstantUse : uint8_t {
  kRead,     ///< where it lies, as those of every other step do
  kRounded,  ///< from a copy that has lost some of its bits
  kPacked    ///< from a copy that has all of them
};

class PacksConstants : public LoadedStep {
 public:
  const PacksConstants* packs_constants() const final { return this; }
  virtual ConstantUse constant_use(int input) const = 0;
  /// Writes the elements of a constant that is kPacked, as `load` was given them.
  virtual void unpack(int input, std::span<std::byte> into) const = 0;
};

}  // namespace kiln
