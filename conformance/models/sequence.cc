#include "models/sequence.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/mapped_file.h"

namespace kiln::conformance {
namespace {

/// The numbers between the parentheses behind 'shape'.
Result<std::vector<int64_t>> npy_extents(std::string_view header, const std::string& path) {
  const size_t open = header.find("'shape': ("), close = header.find(')', open);
  TRY(require(open != header.npos && close != header.npos, path, " has no shape"));
  std::vector<int64_t> extents;
  const char *at = header.data() + header.find('(', open) + 1, *end = header.data() + close;
  while (at < end) {
    int64_t extent = 0;
    const auto parsed = std::from_chars(at, end, extent);
    TRY(require(parsed.ec == std::errc() && extent >= 0, path, " has a shape that is no list of extents"));
    extents.push_back(extent);
    at = std::find_if(parsed.ptr, end, [](char c) { return c != ',' && c != ' '; });
  }
  return extents;
}

/// Version 1: six bytes of magic, two of version, two of the header's length, the header, the elements.
Result<Tensor> read_npy(const std::string& path) {
  constexpr size_t kPrefix = 10;
  const auto file = TRY(MappedFile::open(path));
  const std::span<const std::byte> bytes = file->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  TRY(require(text.size() >= kPrefix && text.starts_with("\x93NUMPY\x01"), path, " is no array of numpy's version 1"));
  const size_t length = std::to_integer<size_t>(bytes[8]) + 256 * std::to_integer<size_t>(bytes[9]);
  TRY(require(length <= text.size() - kPrefix, path, " is truncated"));
  const std::string_view header = text.substr(kPrefix, length);
  TRY(require(header.find("'descr': '<f4'") != header.npos && header.find("'fortran_order': False") != header.npos,
              path, " does not hold little-endian FP32 in row-major order"));
  Tensor tensor{path, onnx::ElementType::kFloat, TRY(npy_extents(header, path)), {}};
  const auto elements = bytes.subspan(kPrefix + length);
  tensor.bytes.assign(elements.begin(), elements.end());
  TRY(require(elements.size() == sizeof(float) * static_cast<size_t>(tensor.num_elements()), path, " has ",
              elements.size(), " bytes for ", tensor));
  return tensor;
}

Result<Tensor> read_array(const std::string& path) {
  return path.ends_with(".npy") ? read_npy(path) : read_tensor_file(path);
}

/// Elements of one step.
std::span<const std::byte> step_of(const Tensor& tensor, int64_t step) {
  const size_t size = tensor.bytes.size() / static_cast<size_t>(tensor.dims[0]);
  return std::span(tensor.bytes).subspan(static_cast<size_t>(step) * size, size);
}

}  // namespace

Result<Sequence> read_sequence(const std::string& frames, const std::string& expected) {
  Sequence sequence{TRY(read_array(frames)), TRY(read_array(expected))};
  const std::vector<int64_t>&x = sequence.frames.dims, &y = sequence.expected.dims;
  TRY(require(!x.empty() && !y.empty() && x[0] == y[0] && x[0] > 0, "frames ", sequence.frames, " and results ",
              sequence.expected, " are not of as many steps"));
  return sequence;
}

Status run_sequence(Session& session, const DataSet& first, const Sequence& sequence, double tolerance) {
  TRY(require(first.inputs.size() >= 2 && first.outputs.size() >= 2, "the network has no state"));
  std::vector<Tensor> inputs = first.inputs;
  double worst = 0;
  const int64_t steps = sequence.frames.dims[0];
  for (int64_t step = 0; step < steps; ++step) {
    const auto frame = step_of(sequence.frames, step);
    TRY(require(frame.size() == inputs[0].bytes.size(), "a step's frame has ", frame.size(), " bytes, the input ",
                inputs[0]));
    inputs[0].bytes.assign(frame.begin(), frame.end());
    for (Tensor& output : TRY(session.run(inputs))) {
      if (output.name == first.outputs[1].name) inputs[1].bytes = std::move(output.bytes);
      if (output.name != first.outputs[0].name) continue;
      const auto wanted = step_of(sequence.expected, step);
      const Tensor expected{output.name, output.type, output.dims, {wanted.begin(), wanted.end()}};
      TRY(require(wanted.size() == output.bytes.size(), "a step's result has ", wanted.size(), " bytes, the output ",
                  output));
      worst = std::max(worst, spread(output, expected).max_difference);
      TRY(in_context(compare(output, expected, {.atol = tolerance}), [&] { return str("step ", step); }));
    }
  }
  std::printf("  %lld steps: largest difference %.3g\n", static_cast<long long>(steps), worst);
  return {};
}

}  // namespace kiln::conformance
