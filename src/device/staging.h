/// Host memory as a device sees it.
#pragma once

#include <span>

#include "device/device.h"

namespace kiln {

/// Bytes of the host in a device's memory; on a host device the bytes themselves, which must live as long.
class Staging {
 public:
  /// Copies `bytes` to the device.
  static Result<Staging> of(Device& device, Stream& stream, std::span<const std::byte> bytes);
  /// The same for bytes that `fetch` will write.
  static Result<Staging> of(Device& device, Stream& stream, std::span<std::byte> bytes);
  std::byte* address() const { return address_; }
  /// Copies back what the device has, behind all earlier work of the stream.
  Status fetch(Device& device, Stream& stream) const;

 private:
  Buffer buffer_;
  std::byte* address_ = nullptr;
  std::span<std::byte> back_;
};

}  // namespace kiln
