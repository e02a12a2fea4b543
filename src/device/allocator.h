/// Memory of a device that somebody else gives and takes back: a program's allocator, as the runtime sees it.
#pragma once

#include "device/device.h"

namespace kiln {

/// May be called from several threads.
class Allocator {
 public:
  virtual ~Allocator() = default;
  /// Aligned to 256. The buffer goes back to where it is from, and may outlive this object.
  virtual Result<Buffer> allocate(int64_t size_bytes) = 0;
  /// The same for two that give the same memory.
  virtual const void* source() const = 0;
};

}  // namespace kiln
