#include "api/run/testing/repeated_runs.h"

#include "base/str.h"

namespace kiln::api::testing {
namespace {

struct Result {
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
  bool operator==(const Result&) const = default;
};

}  // namespace

std::string run_repeatedly(nvinfer1::IExecutionContext& context, const std::map<std::string, OutputMemory>& outputs,
                           std::vector<std::string>& errors, int runs) {
  errors.clear();
  context.setDebugSync(true);
  std::map<std::string, Result> first;
  for (int run = 0; run < runs; ++run) {
    if (!context.enqueueV3(nullptr) || !errors.empty()) return errors.empty() ? "no error was told" : errors.back();
    std::map<std::string, Result> latest;
    for (const auto& [name, output] : outputs)
      latest[name] = {output.shape, {output.memory.begin(), output.memory.end()}};
    if (run == 0)
      first = std::move(latest);
    else if (latest != first)
      return str("run ", run, " gives other outputs than the first");
  }
  return "";
}

}  // namespace kiln::api::testing
