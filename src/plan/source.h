/// The source that a plan is read from: memory, a file, or a stream that only goes forward.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"

namespace kiln::plan {

class Source {
 public:
  virtual ~Source() = default;
  /// The size of the source; nothing where it is unknown before the end is reached.
  virtual std::optional<uint64_t> size() const = 0;
  /// Fills `into` with the bytes at `offset`, or fails. Offsets never go back behind bytes that were read.
  virtual Status read(uint64_t offset, std::span<std::byte> into) = 0;

  /// Bytes that stand in memory already, and what keeps them alive: null if nobody promises to.
  struct Memory {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> keep_alive;
  };
  virtual std::optional<Memory> memory() const { return std::nullopt; }
};

class MemorySource final : public Source {
 public:
  /// Without `keep_alive` the bytes need to stay only while the plan is read.
  explicit MemorySource(std::span<const std::byte> bytes, std::shared_ptr<const void> keep_alive = nullptr)
      : memory_{bytes, std::move(keep_alive)} {}
  std::optional<uint64_t> size() const override { return memory_.bytes.size(); }
  Status read(uint64_t offset, std::span<std::byte> into) override;
  std::optional<Memory> memory() const override { return memory_; }

 private:
  Memory memory_;
};

/// The pages of a file, which stay mapped while the plan read from them lives.
Result<std::unique_ptr<Source>> open_file(const std::string& path);

/// A stream of unknown length that cannot go back; offsets skip by reading.
class ForwardSource : public Source {
 public:
  std::optional<uint64_t> size() const final { return std::nullopt; }
  Status read(uint64_t offset, std::span<std::byte> into) final;

 protected:
  /// Reads at most into.size() > 0 bytes and says how many; 0 at the end.
  virtual Result<size_t> read_some(std::span<std::byte> into) = 0;

 private:
  Status fill(std::span<std::byte> into);
  uint64_t position_ = 0;
};

}  // namespace kiln::plan
