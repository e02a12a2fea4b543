/// Tensors as ONNX's test data files hold them, and the comparison of what ran with what was expected.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"
#include "onnx/element_type.h"

namespace kiln::conformance {

/// Dense, row-major, little-endian, in ONNX's types; four-bit elements two a byte, the first in the low half.
struct Tensor {
  std::string name;
  onnx::ElementType type = onnx::ElementType::kUndefined;
  std::vector<int64_t> dims;
  std::vector<std::byte> bytes;

  int64_t num_elements() const;
};
/// "FLOAT[2,3]"
void append(std::string& out, const Tensor& tensor);

/// A TensorProto in a file of its own. Fails on strings, which have no dense bytes.
Result<Tensor> read_tensor_file(const std::string& path);

/// The files PREFIX0.pb, PREFIX1.pb ... of a folder, as far as they go.
Result<std::vector<Tensor>> read_tensor_files(const std::string& folder, const std::string& prefix);

/// The same numbers in the type that an input or output of the model's type has in a network: FLOAT for DOUBLE, and for
/// types that TensorRT's API lacks the one that carries them; UINT64 keeps its bits.
Tensor as_in_network(Tensor tensor);

/// An element as a number; integers beyond 2^53 lose digits.
double number_at(const Tensor& tensor, int64_t index);
std::vector<int64_t> integers_of(const Tensor& tensor);

/// |actual - expected| <= atol + rtol * |expected| + rel_to_max * max|expected|, infinities and NaN alike.
struct Tolerance {
  double rtol = 0, atol = 0;
  double rel_to_max = 0;
  double levels = 0;  ///< of integers of 8 bits
};

/// Names, types and extents alike and every element within tolerance; booleans and integers of more than 8 bits
/// exactly. The error has the worst element and how many there are like it.
Status compare(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance);

/// The largest difference, and the largest magnitude of `expected`; a NaN or infinity anywhere gives infinity.
struct Spread {
  double max_difference = 0, max_magnitude = 0;
};
Spread spread(const Tensor& actual, const Tensor& expected);

}  // namespace kiln::conformance
