/// Ops as fields of structs.
#pragma once

#include "ops/op.h"

namespace kiln {

const FieldType& field_type(Tag<Op>);  ///< {op, attributes}

}  // namespace kiln
