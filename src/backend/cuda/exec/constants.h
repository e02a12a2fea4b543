/// A step's inputs as its kernel sees them: those of a run, and constants that its load put on the device.
#pragma once

#include <memory>
#include <vector>

#include "backend/cuda/exec/step.h"

namespace kiln::cuda {

class Constants {
 public:
  explicit Constants(size_t inputs) : held_(inputs) {}

  /// Uploads the constants as they are, except those that `put` has or will have set.
  Status upload_rest(const LoadArguments& arguments) {
    for (size_t i = 0; i < held_.size(); ++i)
      if (arguments.constants[i] && !held_[i]) held_[i] = TRY(arguments.upload(arguments.constants[i]->bytes()));
    return {};
  }
  Status put(size_t input, const LoadArguments& arguments, std::span<const std::byte> bytes) {
    held_[input] = TRY(arguments.upload(bytes));
    packed_bytes_ += static_cast<int64_t>(bytes.size());
    return {};
  }

  const void* at(size_t input, const RunArguments& run) const {
    return held_[input] ? held_[input]->data() : run.inputs[input];
  }
  size_t size() const { return held_.size(); }
  int64_t packed_bytes() const { return packed_bytes_; }

 private:
  std::vector<std::shared_ptr<const Buffer>> held_;
  int64_t packed_bytes_ = 0;
};

}  // namespace kiln::cuda
