/// Plans to bytes: the inverse of reader.h. Equal plans give equal bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "plan/plan.h"

namespace kiln::plan {

/// Takes bytes in order.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Called once before the first byte.
  virtual Status expect(uint64_t size_bytes) { return static_cast<void>(size_bytes), Status(); }
  virtual Status write(std::span<const std::byte> bytes) = 0;
};

/// Writes weights from where they are, without a copy. Fails before the first byte if `plan` is not valid
/// (validate.h), so that whatever is written can be read.
Status write_plan(const Plan& plan, Sink& sink);
Result<std::vector<std::byte>> write_plan(const Plan& plan);

}  // namespace kiln::plan
