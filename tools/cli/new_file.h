/// A file that is there as a whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kiln::cli {

/// The file that `path` leads to by symbolic links, whether that is there or not. A link that leads in a circle is
/// itself.
std::string followed(const std::string& path);

/// Writes beside `path` and renames at commit(); without one, `path` is as it was and nothing is left behind. Symbolic
/// links are followed, also to what is not there yet. A path that is no regular file (a pipe, a device) is written in
/// place. A process that is killed leaves its unfinished file behind, locked by nobody: the next NewFile of the same
/// path removes it. All functions fail with what the system says.
class NewFile {
 public:
  /// `what` names the file's purpose: "cannot write plan m.plan: No space left on device (after 0 bytes)".
  NewFile(std::string path, std::string_view what);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(const void* data, size_t size_bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();
  int64_t size_bytes() const { return size_bytes_; }

 private:
  void open_beside();
  [[noreturn]] void fail_to_write();

  std::string path_, what_;
  std::string target_;     ///< path_ with symbolic links followed
  std::string temporary_;  ///< empty when written in place
  int file_ = -1;
  int64_t size_bytes_ = 0;
};

}  // namespace kiln::cli
