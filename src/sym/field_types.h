/// Expressions and programs as fields of structs.
#pragma once

#include "base/field.h"
#include "sym/expr.h"
#include "sym/program.h"

namespace kiln::sym {

/// Written as exact texts; reading them back is an error (kUnsupported), for a record has no table of symbols.
const FieldType& field_type(Tag<std::vector<Expr>>);
/// Its words. It is read as a program of any number of symbols: whoever reads knows how many there are.
const FieldType& field_type(Tag<Program>);

}  // namespace kiln::sym
