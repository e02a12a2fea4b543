/// Dense tensors in memory as TensorRT's formats have them, and back.
#pragma once

#include <NvInferRuntime.h>

#include <cstddef>
#include <string>
#include <vector>

namespace kiln::conformance {

/// A format for a tensor of that name and rank, by a seed; kLINEAR where there is no other of that rank.
nvinfer1::TensorFormat random_format(uint64_t seed, const std::string& name, int rank);

/// Elements that memory holds, padding included.
int64_t storage_elements(nvinfer1::TensorFormat format, const nvinfer1::Dims& dims);

/// Elements of `size` bytes, row-major, where the format has them; what pads a block is garbage.
std::vector<std::byte> to_format(nvinfer1::TensorFormat format, const nvinfer1::Dims& dims, size_t size,
                                 const std::vector<std::byte>& dense);
/// The other way.
std::vector<std::byte> from_format(nvinfer1::TensorFormat format, const nvinfer1::Dims& dims, size_t size,
                                   const std::vector<std::byte>& memory);

}  // namespace kiln::conformance
