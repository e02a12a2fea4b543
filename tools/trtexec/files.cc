#include "files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "text.h"

namespace kiln::trtexec {
namespace {

/// Closes what it opened.
class Descriptor {
 public:
  Descriptor(const std::string& path, std::string_view what) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
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

NewFile::NewFile(std::string path, std::string_view what) : path_(std::move(path)), what_(what) {
  if (is_regular_or_new(path_)) temporary_ = str(path_, ".", ::getpid(), ".tmp");
  const std::string& name = temporary_.empty() ? path_ : temporary_;
  file_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) {
    const int why = errno;
    temporary_.clear();
    fail("cannot write ", what_, " ", path_, ": ", std::strerror(why));
  }
}

NewFile::~NewFile() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void NewFile::write(const void* data, size_t size_bytes) {
  const char* next = static_cast<const char*>(data);
  while (size_bytes > 0) {
    const ssize_t count = ::write(file_, next, size_bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_to_write();
    next += count;
    size_bytes -= static_cast<size_t>(count);
    size_bytes_ += count;
  }
}

void NewFile::commit() {
  const int closed = ::close(file_);  // a full disk may be found out only now
  file_ = -1;
  if (closed != 0) fail_to_write();
  if (!temporary_.empty() && ::rename(temporary_.c_str(), path_.c_str()) != 0) fail_to_write();
  temporary_.clear();
}

void NewFile::fail_to_write() {
  fail("cannot write ", what_, " ", path_, ": ", std::strerror(errno), " (after ", size_bytes_, " bytes)");
}

void write_file(const std::string& path, std::string_view content, std::string_view what) {
  NewFile file(path, what);
  file.write(content);
  file.commit();
}

}  // namespace kiln::trtexec
