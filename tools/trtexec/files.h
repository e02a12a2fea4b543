/// Files read whole, and written so that nobody finds half of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::trtexec {

/// Fails with what the system says. `what` names the file's purpose: "cannot read plan m.plan: No such file ...".
std::vector<char> read_file(const std::string& path, std::string_view what);

bool file_exists(const std::string& path);

/// Whether what is written there can be read back: no pipe, no device.
bool is_regular_or_new(const std::string& path);

/// Fills memory from a file that holds exactly that many bytes.
void read_exactly(const std::string& path, void* data, int64_t size_bytes, std::string_view what);

/// A file under a name of its own beside `path` until commit() gives it that name; what is not committed is removed. A
/// path that is no regular file (a pipe, a device) is written in place. All fail with what the system says.
class NewFile {
 public:
  NewFile(std::string path, std::string_view what);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(const void* data, size_t size_bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();
  int64_t size_bytes() const { return size_bytes_; }

 private:
  [[noreturn]] void fail_to_write();

  std::string path_, what_, temporary_;  ///< temporary_ is empty when written in place
  int file_ = -1;
  int64_t size_bytes_ = 0;
};

void write_file(const std::string& path, std::string_view content, std::string_view what);

}  // namespace kiln::trtexec
