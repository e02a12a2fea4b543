#include "files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "new_file.h"
#include "text.h"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

/// Closes what it opened. A pipe is opened without waiting for its writer: `size_of` refuses it.
class Descriptor {
 public:
  Descriptor(const std::string& path, std::string_view what)
      : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    require(file_ >= 0, "cannot open ", what, " ", path, ": ", std::strerror(errno));
  }
  ~Descriptor() { ::close(file_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return file_; }

 private:
  int file_;
};

int64_t size_of(const Descriptor& file, const std::string& path, std::string_view what) {
  struct stat facts {};
  require(::fstat(file.get(), &facts) == 0, "cannot read ", what, " ", path, ": ", std::strerror(errno));
  require(!S_ISDIR(facts.st_mode), "cannot read ", what, " ", path, ": it is a folder");
  require(!S_ISFIFO(facts.st_mode), "cannot read ", what, " ", path, ": it is a pipe, whose size is not known");
  return facts.st_size;
}

void read_all(const Descriptor& file, char* data, int64_t size_bytes, const std::string& path, std::string_view what) {
  for (int64_t done = 0; done < size_bytes;) {
    const ssize_t count = ::read(file.get(), data + done, static_cast<size_t>(size_bytes - done));
    if (count < 0 && errno == EINTR) continue;
    require(count >= 0, "cannot read ", what, " ", path, ": ", std::strerror(errno));
    require(count > 0, "cannot read ", what, " ", path, ": it ended after ", done, " of ", size_bytes, " bytes");
    done += count;
  }
}

}  // namespace

std::vector<char> read_file(const std::string& path, std::string_view what) {
  const Descriptor file(path, what);
  std::vector<char> content(static_cast<size_t>(size_of(file, path, what)));
  read_all(file, content.data(), static_cast<int64_t>(content.size()), path, what);
  return content;
}

bool file_exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool is_pipe(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISFIFO(facts.st_mode);
}

bool is_regular_or_new(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) != 0 || S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode);
}

void read_exactly(const std::string& path, void* data, int64_t size_bytes, std::string_view what) {
  const Descriptor file(path, what);
  const int64_t found = size_of(file, path, what);
  require(found == size_bytes, what, ": file ", path, " has ", found, " bytes; ", size_bytes, " are needed");
  read_all(file, static_cast<char*>(data), size_bytes, path, what);
}

namespace {
/// The first bytes of a file, without spaces and line ends.
std::string beginning_of(const std::string& path, int64_t most, std::string_view what) {
  const Descriptor file(path, what);
  std::string start(static_cast<size_t>(std::min(size_of(file, path, what), most)), '\0');
  read_all(file, start.data(), static_cast<int64_t>(start.size()), path, what);
  std::erase_if(start, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
  return start;
}
}  // namespace

void require_replaceable(const std::string& path, std::string_view beginning, std::string_view key,
                         std::string_view what) {
  constexpr int64_t kEnough = 4096;  // for any beginning, whatever spaces stand between, and for most keys
  if (!file_exists(path) || !is_regular_or_new(path) || fs::is_empty(path)) return;
  const std::string start = beginning_of(path, kEnough, what);
  const bool ours =
      start.starts_with(beginning) &&
      (start.find(key) != start.npos || beginning_of(path, INT64_MAX, what).find(key) != std::string::npos);
  require(ours, what, ": ", path,
          " exists and is not a file of this kind; it was left as it is. Name another file, or remove that one");
}

void write_stdout(std::string_view content, std::string_view what) {
  const bool written =
      std::fwrite(content.data(), 1, content.size(), stdout) == content.size() && std::fflush(stdout) == 0;
  require(written, "cannot write the ", what, " to the standard output: ", std::strerror(errno));
}

void write_file(const std::string& path, std::string_view content, std::string_view what) {
  NewFile file(path, what);
  file.write(content);
  file.commit();
}

}  // namespace kiln::cli
