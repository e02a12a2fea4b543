/// The words of a `kiln` command.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "builder/build.h"
#include "ir/graph.h"

namespace kiln {

/// "--name=value" options and the words between them.
struct Arguments {
  std::vector<std::string> words;
  std::map<std::string, std::string> options;  ///< "--flag" alone has an empty value

  bool has(const std::string& name) const { return options.contains(name); }
  std::string get(const std::string& name, const std::string& otherwise = {}) const;
  /// A whole number, `least` or more.
  Result<int> number(const std::string& name, int otherwise, int least) const;
};
Result<Arguments> parse_arguments(int argc, char** argv, const std::vector<std::string>& known);

/// The graph of an ONNX file. Every problem of the model is in the error.
Result<ir::Graph> import_file(const std::string& path);

/// "x:1x3x224x224,y:4".
Result<std::map<std::string, Extents>> parse_shapes(std::string_view shapes);

/// The profile of --min, --shapes (its optimum) and --max; what lacks a minimum or maximum has the optimum for it, and
/// dynamic inputs that are not named have 1 for every axis.
Result<ProfileRequest> profile_of(const ir::Graph& graph, const Arguments& arguments);

}  // namespace kiln
