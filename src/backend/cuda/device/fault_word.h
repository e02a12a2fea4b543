/// Words in the host's memory that kernels write: how a kernel tells what only its data decides, such as an index that
/// is outside its axis.
#pragma once

#include <memory>
#include <optional>

#include "backend/cuda/device/cuda_device.h"

namespace kiln::cuda {

/// A kernel stores 2 x + 1 for a number x; 0 says nothing. Of several that store at once one is kept.
class FaultWord {
 public:
  static Result<FaultWord> create(CudaDevice& device);
  FaultWord(FaultWord&&) noexcept = default;
  FaultWord& operator=(FaultWord&&) = delete;
  ~FaultWord();

  /// The word's address, for kernels; it does not move.
  int64_t* address() const { return word_; }
  /// The number that a kernel which is done has stored since the last call.
  std::optional<int64_t> take() const;

 private:
  struct Page;
  struct Pages;
  FaultWord(std::shared_ptr<Page> page, int64_t* word) : page_(std::move(page)), word_(word) {}

  std::shared_ptr<Page> page_;  // null where moved from
  int64_t* word_;
};

}  // namespace kiln::cuda
