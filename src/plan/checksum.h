/// XXH3 (64 bits) of bytes that come in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace kiln::plan {

class Checksum {
 public:
  Checksum();
  ~Checksum();
  void add(std::span<const std::byte> bytes);
  uint64_t value() const;  ///< hash64 of all bytes so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kiln::plan
