/// Records as JSON text, for inspectors and reports.
#pragma once

#include <string>

#include "base/record.h"

namespace kiln::plan {

/// `indent` < 0: one line. Order is kept; bytes become hexadecimal text, floats that are not finite null, and bytes
/// that are no UTF-8 the replacement character.
std::string to_json(const Record& record, int indent = -1);
std::string to_json(const Datum& datum, int indent = -1);

}  // namespace kiln::plan
