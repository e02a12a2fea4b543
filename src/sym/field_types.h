/// Expressions as fields of structs.
#pragma once

#include "base/field.h"
#include "sym/expr.h"

namespace kiln::sym {

/// Written as exact texts; reading them back is an error (kUnsupported), for a record has no table of symbols.
const FieldType& field_type(Tag<std::vector<Expr>>);

}  // namespace kiln::sym
