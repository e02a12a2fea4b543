/// Bytes to plans. The reader believes nothing: whatever the bytes are, the answer is a valid plan (validate.h) or an
/// error that names the section or field and its numbers, and no allocation exceeds what the bytes justify.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/error.h"
#include "plan/plan.h"
#include "plan/source.h"

namespace kiln::plan {

/// kVersion: a plan of TensorRT's, or of another version of Kiln's format. kCorrupt: damaged, truncated, or no plan.
/// Weights borrow from `bytes` as long as `keep_alive` does; without one, or where `bytes` are not aligned to 64, they
/// are copied once, large ones each into memory of its own. Bytes behind the plan's end are an error, as they are for
/// TensorRT: a damaged file, or two that were joined.
Result<std::shared_ptr<const Plan>> read_plan(std::span<const std::byte> bytes,
                                              std::shared_ptr<const void> keep_alive = nullptr);

/// The same from a source, which is read once, in order. A source of unknown size may go on behind the plan.
Result<std::shared_ptr<const Plan>> read_plan(Source& source);

}  // namespace kiln::plan
