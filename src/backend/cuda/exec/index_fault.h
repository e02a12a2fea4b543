/// The fault of a step that met an index outside its axis: only their data decides it, after `run` returned.
#pragma once

#include "backend/cuda/device/fault_word.h"
#include "tensor/extents.h"

namespace kiln::cuda {

class IndexFault {
 public:
  /// Makes the fault of indices into `data`; `consequence` is what their kernel did instead.
  static Result<IndexFault> create(CudaDevice& device, const Extents& data, std::string_view consequence) {
    return IndexFault(TRY(FaultWord::create(device)), data, consequence);
  }
  /// The word's address, for kernels.
  int64_t* address() const { return word_.address(); }
  /// BoundStep::check
  Status check() const {
    const std::optional<int64_t> index = word_.take();
    if (!index) [[likely]]
      return {};
    return error(Code::kInvalidArgument, "index ", *index, " is outside the data, whose extents are ", data_, "; ",
                 consequence_);
  }

 private:
  IndexFault(FaultWord word, const Extents& data, std::string_view consequence)
      : word_(std::move(word)), data_(data), consequence_(consequence) {}

  FaultWord word_;
  Extents data_;
  std::string_view consequence_;  ///< a literal
};

}  // namespace kiln::cuda
