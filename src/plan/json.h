/// Records as JSON text, for inspectors and reports; and back.
#pragma once

#include <string>

#include "base/record.h"

namespace kiln::plan {

/// `indent` < 0: one line. Order is kept; bytes become hexadecimal text, floats that are not finite null, and bytes
/// that are no UTF-8 the replacement character.
std::string to_json(const Record& record, int indent = -1);
std::string to_json(const Datum& datum, int indent = -1);

/// The data of a JSON text of any source. Lists are of any data, also where they hold numbers alone; an integer beyond
/// 64 bits is a float; of entries of one name the last counts. Fails at what is no JSON, and says where; at a number
/// that no float holds; at what is nested more than 64 deep; and at an object of more than 4096 entries.
Result<Datum> parse_json(std::string_view text);

}  // namespace kiln::plan
