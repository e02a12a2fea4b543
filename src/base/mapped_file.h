/// A file's bytes as memory, read-only, for as long as the object lives.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"

namespace kiln {

/// The bytes are the file's pages: opening costs nothing, pages are read when touched and can be dropped by the kernel.
/// A file that another process shortens meanwhile ends this process with SIGBUS, as with every memory map.
class MappedFile {
 public:
  /// Fails with kNotFound or kIo, naming `path` and the operating system's reason; only regular files are accepted.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace kiln
