/// A plan's metadata as a record, which becomes the CBOR document of a plan, and back.
#pragma once

#include <string_view>

#include "base/error.h"
#include "base/record.h"
#include "plan/plan.h"

namespace kiln::plan {

/// Everything but the weights' elements: a weight's entry has its name, type and extents.
Record to_record(const Plan& plan);

/// Checks kinds, names of enumerators and programs. Indices, sizes and ranks are left to validate.h; weights come
/// without their elements. Entries of other names are ignored.
Result<Plan> plan_from_record(const Record& record);

std::string_view name_of(Place place);  ///< "input", "arena", ...

}  // namespace kiln::plan
