// The table of fields in docs/plugins.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "testing/examples.h"

namespace kiln::plugins::testing {
namespace {

using Names = std::set<std::string>;

struct Row {
  Names plugins, versions;
  Names needed, others;  ///< fields
  Names all() const {
    Names names = needed;
    names.insert(others.begin(), others.end());
    return names;
  }
};

/// The parts of a text between separators, without spaces around them.
std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    const size_t begin = part.find_first_not_of(' ');
    parts.push_back(begin == std::string::npos ? "" : part.substr(begin, part.find_last_not_of(' ') + 1 - begin));
  }
  return parts;
}

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
void read_fields(const std::string& text, Row& row) {
  std::string name;
  int depth = 0;
  bool has_default = false;
  for (const char letter : text + ',') {
    if (letter == '(') ++depth, has_default = true;
    if (letter == ',' && depth == 0) {
      if (!name.empty()) (has_default ? row.others : row.needed).insert(name);
      name.clear(), has_default = false;
    } else if (depth == 0 && letter != ' ') {
      name += letter;
    }
    if (letter == ')') --depth;
  }
}

std::vector<Row> documented() {
  std::ifstream file(KILN_PLUGINS_DOCUMENT);
  EXPECT_TRUE(file) << KILN_PLUGINS_DOCUMENT;
  std::vector<Row> rows;
  bool is_in_table = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "| plugin | versions | fields |")
      is_in_table = true;
    else if (is_in_table && line.empty())
      break;
    else if (is_in_table && !line.starts_with("|---")) {
      const std::vector<std::string> cells = parts_of(line, '|');
      Row& row = rows.emplace_back();
      for (const std::string& name : parts_of(cells.at(1), ',')) row.plugins.insert(name);
      row.versions = versions_of(cells.at(2));
      read_fields(cells.at(3), row);
    }
  }
  return rows;
}

const Row* row_of(const std::vector<Row>& rows, const Definition& definition) {
  const auto found = std::ranges::find_if(rows, [&](const Row& row) {
    return row.plugins.contains(definition.name) && row.versions.contains(definition.version);
  });
  return found == rows.end() ? nullptr : &*found;
}

TEST(DocumentedFields, AreThoseOfTheCreators) {
  const std::vector<Row> rows = documented();
  size_t num_documented = 0;
  for (const Row& row : rows) num_documented += row.plugins.size() * row.versions.size();
  EXPECT_EQ(num_documented, definitions().size());
  for (const Definition& one : definitions()) {
    const Row* const row = row_of(rows, one);
    ASSERT_TRUE(row) << one.name << ' ' << one.version;
    Names names;
    for (const nv::PluginField& field : one.fields) names.insert(field.name);
    EXPECT_EQ(row->all(), names) << one.name << ' ' << one.version;
  }
}

/// A plugin of an example's fields, but that of one name.
Result<Plugin> made_without(const Plugin& example, const std::string& name) {
  std::vector<nv::PluginField> fields = example.fields.views();
  std::erase_if(fields, [&](const nv::PluginField& field) { return field.name == name; });
  const nv::PluginFieldCollection collection{static_cast<int32_t>(fields.size()), fields.data()};
  return make_plugin(*example.definition, Fields::of(&collection, example.definition->fields).value());
}

TEST(DocumentedFields, AreNeededWhereTheTableSaysSo) {
  const std::vector<Row> rows = documented();
  for (const ExamplePlugin& example : example_plugins()) {
    const Row* const row = row_of(rows, *example.plugin.definition);
    ASSERT_TRUE(row) << example.what;
    for (const std::string& name : row->needed)
      EXPECT_FALSE(made_without(example.plugin, name)) << example.what << " without " << name;
    for (const std::string& name : row->others) {
      const auto made = made_without(example.plugin, name);
      EXPECT_TRUE(made) << example.what << " without " << name << ": " << made.error().message;
    }
  }
}

}  // namespace
}  // namespace kiln::plugins::testing
