/// The addresses of a context's inputs and outputs, as the program set them.
#pragma once

#include <utility>
#include <vector>

namespace kiln::runtime {

/// How a program gives the addresses of a run.
enum class AddressSource {
  kByName,    ///< one call for each tensor
  kBindings,  ///< an array of them with the run: those of inputs, then those of outputs
};

class IoAddresses {
 public:
  IoAddresses(size_t num_inputs, size_t num_outputs) : inputs_(num_inputs), outputs_(num_outputs) {}
  /// Both return whether that was the address before.
  bool set_input(int input, const void* data) {
    return std::exchange(inputs_[static_cast<size_t>(input)], data) == data;
  }
  bool set_output(int output, void* data) { return std::exchange(outputs_[static_cast<size_t>(output)], data) == data; }
  /// Null: not set.
  const void* input(size_t index) const { return inputs_[index]; }
  void* output(size_t index) const { return outputs_[index]; }

  AddressSource source = AddressSource::kByName;  ///< of the latest run, for messages of addresses that are missing

 private:
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
};

}  // namespace kiln::runtime
