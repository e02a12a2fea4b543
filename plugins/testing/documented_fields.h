/// The table of fields in docs/plugins.md.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "library/standard_plugin.h"

namespace kiln::plugins::testing {

using Names = std::set<std::string>;

/// A row of the table.
struct DocumentedFields {
  Names plugins, versions;
  Names needed;
  std::map<std::string, std::string> defaults;  ///< of the other fields, as the table has them: "0", "3, 832, 1344"
  Names all() const;
};
std::vector<DocumentedFields> documented_fields();
const DocumentedFields* row_of(const std::vector<DocumentedFields>& rows, const Definition& definition);
/// The parts of a text between separators, without spaces around them.
std::vector<std::string> parts_of(const std::string& text, char separator);

}  // namespace kiln::plugins::testing
