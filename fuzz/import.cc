// Whatever an ONNX file says, the importer makes a graph that verifies, or explains. Bodies and sequences among it.
#include <cstdint>
#include <memory>
#include <span>

#include "onnx/importer.h"
#include "onnx/reader.h"

namespace kiln::onnx {
namespace {

void demand(bool holds) {
  if (!holds) __builtin_trap();
}

void import_bytes(std::span<const std::byte> bytes) {
  const auto model = read_model(bytes);
  if (!model) return;  // fuzz_onnx_reader is about that
  ir::Graph graph;
  ImportReport report;
  const Status imported = import_model(*model, graph, {.copy_weights = true}, report);
  if (imported) {
    demand(ir::verify(graph).has_value());
    demand(!print(graph).empty());
    return;
  }
  demand(!report.errors.empty());
  for (const Problem& problem : report.errors) demand(!problem.message.empty());
}

}  // namespace
}  // namespace kiln::onnx

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kiln::onnx::import_bytes(std::as_bytes(std::span(data, size)));
  return 0;
}
