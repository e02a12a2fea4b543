#include "testing/documented_fields.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace kiln::plugins::testing {
namespace {

/// "1 to 6", "1, 2".
Names versions_of(const std::string& text) {
  const size_t to = text.find(" to ");
  Names versions;
  if (to == std::string::npos)
    for (const std::string& one : parts_of(text, ',')) versions.insert(one);
  else
    for (int i = std::stoi(text); i <= std::stoi(text.substr(to + 4)); ++i) versions.insert(std::to_string(i));
  return versions;
}

/// "topK, clip (0), image_size (3, 832, 1344)".
void read_fields(const std::string& text, DocumentedFields& row) {
  std::string name, value;
  int depth = 0;
  bool has_default = false;
  for (const char letter : text + ',') {
    if (letter == ')') --depth;
    if (depth > 0) value += letter;
    if (letter == '(') ++depth, has_default = true;
    if (letter == ',' && depth == 0) {
      if (!name.empty() && has_default) row.defaults[name] = value;
      if (!name.empty() && !has_default) row.needed.insert(name);
      name.clear(), value.clear(), has_default = false;
    } else if (depth == 0 && letter != ' ' && letter != ')') {
      name += letter;
    }
  }
}

}  // namespace

Names DocumentedFields::all() const {
  Names names = needed;
  for (const auto& [name, value] : defaults) names.insert(name);
  return names;
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    const size_t begin = part.find_first_not_of(' ');
    parts.push_back(begin == std::string::npos ? "" : part.substr(begin, part.find_last_not_of(' ') + 1 - begin));
  }
  return parts;
}

std::vector<DocumentedFields> documented_fields() {
  std::ifstream file(KILN_PLUGINS_DOCUMENT);
  EXPECT_TRUE(file) << KILN_PLUGINS_DOCUMENT;
  std::vector<DocumentedFields> rows;
  bool is_in_table = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "| plugin | versions | fields |")
      is_in_table = true;
    else if (is_in_table && line.empty())
      break;
    else if (is_in_table && !line.starts_with("|---")) {
      const std::vector<std::string> cells = parts_of(line, '|');
      DocumentedFields& row = rows.emplace_back();
      for (const std::string& name : parts_of(cells.at(1), ',')) row.plugins.insert(name);
      row.versions = versions_of(cells.at(2));
      read_fields(cells.at(3), row);
    }
  }
  return rows;
}

const DocumentedFields* row_of(const std::vector<DocumentedFields>& rows, const Definition& definition) {
  const auto found = std::ranges::find_if(rows, [&](const DocumentedFields& row) {
    return row.plugins.contains(definition.name) && row.versions.contains(definition.version);
  });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace kiln::plugins::testing
