#include "debug_writer.h"

#include <algorithm>

#include "cli/files.h"
#include "cli/json.h"
#include "cli/text.h"
#include "cuda.h"
#include "log.h"
#include "values.h"

namespace kiln::cli::trtexec {
namespace {

constexpr const char* kSummary = "tensor_summary.json";

TensorData copied(const void* address, nvinfer1::TensorLocation location, nvinfer1::DataType type,
                  const nvinfer1::Dims& shape, const char* name, cudaStream_t stream) {
  TensorData tensor{.name = name, .type = type, .extents = {shape.d, shape.d + shape.nbDims}, .bytes = {}};
  tensor.bytes.resize(static_cast<size_t>(size_bytes(type, tensor.count())));
  if (tensor.bytes.empty()) return tensor;
  const bool is_host = location == nvinfer1::TensorLocation::kHOST;
  check(cudaMemcpyAsync(tensor.bytes.data(), address, tensor.bytes.size(),
                        is_host ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost, stream),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return tensor;
}

}  // namespace

bool DebugWriter::wants(std::string_view format) const {
  return std::ranges::find(options_.formats, format) != options_.formats.end();
}

bool DebugWriter::processDebugTensor(void const* address, nvinfer1::TensorLocation location, nvinfer1::DataType type,
                                     nvinfer1::Dims const& shape, char const* name, cudaStream_t stream) {
  try {
    write(copied(address, location, type, shape, name, stream));
    return true;
  } catch (const std::exception& failure) {  // not through the library
    failure_ = failure.what();
    return false;
  }
}

void DebugWriter::write(const TensorData& tensor) {
  const std::string_view raw(tensor.bytes.data(), tensor.bytes.size());
  const int index = num_values_++;
  seen_.push_back(tensor.name);
  std::vector<std::pair<std::string, std::string>> files;
  const auto put = [&](std::string kind, std::string path, std::string_view content) {
    write_file(path, content, "debug tensor");
    files.emplace_back(std::move(kind), std::move(path));
  };
  for (const auto& [name, path] : options_.files)
    if (name == tensor.name) put("assigned", path, raw);
  if (wants("raw")) put("raw", numbered_file(index, tensor.name, ".raw"), raw);
  if (wants("numpy")) put("numpy", numbered_file(index, tensor.name, ".npy"), numpy_file(tensor));
  if (wants("string")) put("string", numbered_file(index, tensor.name, ".str"), text_file(tensor));
  if (wants("summary")) entries_ += (entries_.empty() ? "" : ",\n") + summary_entry(tensor, files);
}

void DebugWriter::finish(Log& log) {
  require(failure_.empty(), failure_);
  for (const auto& [name, path] : options_.files)
    if (std::ranges::find(seen_, name) == seen_.end())
      log.warn("--saveDebugTensors: the run did not compute '", name, "', so ", path, " is not written");
  if (wants("summary") && num_values_ > 0) {
    write_file(kSummary,
               "{\"metadata\": {\"title\": \"Tensor Summary Report\", \"engine_name\": " + json_string(engine_name_) +
                   "},\n \"tensors\": [\n" + entries_ + "\n ]\n}\n",
               "tensor summary");
    log.info("Wrote the summary of ", num_values_, " debug tensors to ", kSummary);
  }
  log.info("Wrote ", num_values_, " values of debug tensors, of one run before those that are measured");
}

void DebugWriter::require_values() const {
  require(
      options_.formats.empty() || num_values_ > 0,
      "--saveAllDebugTensors: the run has shown no debug tensor, so nothing was written; the engine was built without "
      "--markDebug and --markUnfusedTensorsAsDebugTensors, or what they mark lies in a branch that was not taken");
}

}  // namespace kiln::cli::trtexec
