/// The plan that a document of metadata alone describes.
#pragma once

#include "plan/cbor.h"
#include "plan/metadata.h"
#include "plan/validate.h"

namespace kiln::plan {

/// Weights that are small enough have elements: zeros. Fails where a reader of files refuses the metadata.
inline Result<Plan> plan_of_metadata(const Record& record) {
  Plan plan = TRY(plan_from_record(record));
  for (auto* weights : stored_lists(plan))
    for (Weight& weight : *weights) {
      const auto count = checked_volume(weight.value.extents());
      if (!count || *count > 4096) continue;
      weight.value = HostTensor::make(weight.value.dtype(), weight.value.extents())->tensor;
    }
  TRY(validate(plan));
  return plan;
}

}  // namespace kiln::plan
