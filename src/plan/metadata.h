/// A plan's metadata as a record, which becomes the CBOR document of a plan, and back.
#pragma once

#include "plan/plan.h"

namespace kiln::plan {

const FieldType& field_type(Tag<Weight>);  ///< {name, dtype, extents, from?, same_as?}

/// Everything but the weights' elements: a weight's entry has its name, type and extents.
Record to_record(const Plan& plan);

/// Checks kinds, names of enumerators and that programs are some. Indices, sizes, ranks and which symbols programs read
/// are left to validate.h; weights come without their elements.
Result<Plan> plan_from_record(const Record& record);

}  // namespace kiln::plan
