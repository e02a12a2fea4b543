#include "device/staging.h"

#include <algorithm>

namespace kiln {

Result<Staging> Staging::of(Device& device, Stream& stream, std::span<const std::byte> bytes) {
  Staging staging;
  if (device.is_host()) {
    staging.address_ = const_cast<std::byte*>(bytes.data());  // only read: the overload below is for what is written
    return staging;
  }
  staging.buffer_ = TRY(device.allocate(std::max<int64_t>(std::ssize(bytes), 1)));
  staging.address_ = staging.buffer_.data();
  TRY(device.copy_from_host(staging.address_, bytes.data(), std::ssize(bytes), stream));
  return staging;
}

Result<Staging> Staging::of(Device& device, Stream& stream, std::span<std::byte> bytes) {
  Staging staging = TRY(of(device, stream, std::span<const std::byte>(bytes)));
  staging.back_ = bytes;
  return staging;
}

Status Staging::fetch(Device& device, Stream& stream) const {
  if (device.is_host() || back_.empty()) return {};
  return device.copy_to_host(back_.data(), address_, std::ssize(back_), stream);
}

}  // namespace kiln
