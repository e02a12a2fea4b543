/// A use of each creator that it takes, for tests that go through all of them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "library/standard_plugin.h"
#include "testing/plugin_bench.h"

namespace kiln::plugins::testing {

struct Example {
  const char *name, *versions;  ///< a digit for each version
  Attributes attributes;
  std::vector<Tensor> inputs;  ///< extents and types alone
};
/// One of each creator at least.
std::vector<Example> examples();
/// The plugins of all examples, one for each version.
struct ExamplePlugin {
  Plugin plugin;
  std::vector<Tensor> inputs;
  std::string what;  ///< for messages
};
std::vector<ExamplePlugin> example_plugins();

}  // namespace kiln::plugins::testing
