/// The words of a `kiln` command.
#pragma once

#include <map>
#include <string>
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
};
Result<Arguments> parse_arguments(int argc, char** argv, const std::vector<std::string>& known);

/// The graph of an ONNX file. Every problem of the model is in the error.
Result<ir::Graph> import_file(const std::string& path);

/// "x:1x3x224x224,y:4" as a profile of those extents alone; dynamic inputs that are not named get 1 for every axis.
Result<ProfileRequest> fixed_profile(const ir::Graph& graph, const std::string& shapes);

}  // namespace kiln
