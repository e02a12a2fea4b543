#include "new_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "files.h"
#include "text.h"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".tmp";

/// Whether the descriptor's file still stands under this name.
bool is_at(int file, const std::string& name) {
  struct stat own {
  }, found{};
  return ::fstat(file, &own) == 0 && ::stat(name.c_str(), &found) == 0 && own.st_dev == found.st_dev &&
         own.st_ino == found.st_ino;
}

/// Whether `name` is what a NewFile of `target` would be called: "target.1234.tmp" or "target.1234-5.tmp".
bool is_unfinished(std::string_view name, std::string_view target) {
  if (!name.starts_with(target) || !name.ends_with(kSuffix)) return false;
  if (name.size() < target.size() + kSuffix.size() + 2 || name[target.size()] != '.') return false;
  const std::string_view owner = name.substr(target.size() + 1, name.size() - target.size() - 1 - kSuffix.size());
  return owner[0] != '-' && owner.find_first_not_of("0123456789-") == owner.npos;
}

/// Removes unfinished files of `target` that no living process holds the lock of. What cannot be looked at stays: the
/// file that is about to be written matters more.
void remove_abandoned(const std::string& target) {
  std::error_code ignored;
  const fs::path whole(target), folder = whole.has_parent_path() ? whole.parent_path() : fs::path(".");
  const std::string own_name = whole.filename().string();
  for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    if (!is_unfinished(entry->path().filename().string(), own_name)) continue;
    const std::string name = entry->path().string();
    const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) continue;
    if (::flock(file, LOCK_EX | LOCK_NB) == 0 && is_at(file, name)) ::unlink(name.c_str());
    ::close(file);
  }
}

/// Whether the path is one of the system's, such as /dev/stdout. Such links may lead to open files instead of paths.
bool is_of_system(std::string_view path) { return path.starts_with("/dev/") || path.starts_with("/proc/"); }

}  // namespace

std::string followed(const std::string& path) {
  if (is_of_system(path)) return path;
  constexpr int kMostLinks = 40;  // as many as Linux follows
  fs::path target(path);
  std::error_code failed;
  for (int i = 0; i <= kMostLinks; ++i) {
    const fs::path next = fs::read_symlink(target, failed);
    if (failed) break;  // no link
    target = target.parent_path() / next;
  }
  // A link that leads in a circle must not be replaced.
  return failed ? target.string() : path;
}

NewFile::NewFile(std::string path, std::string_view what) : path_(std::move(path)), what_(what) {
  target_ = followed(path_);
  require(!fs::is_symlink(target_) || is_of_system(target_), "cannot write ", what_, " ", path_, ": ",
          std::strerror(ELOOP));
  if (is_regular_or_new(target_) && !is_of_system(target_)) {
    remove_abandoned(target_);
    open_beside();
  } else {
    // A pipe that nobody reads would be waited for without a word.
    file_ = ::open(target_.c_str(), O_WRONLY | O_NONBLOCK | O_APPEND | O_CLOEXEC);
    if (file_ >= 0) ::fcntl(file_, F_SETFL, O_WRONLY | O_APPEND);
  }
  if (file_ < 0) {
    const int why = errno;
    temporary_.clear();
    fail("cannot write ", what_, " ", path_, ": ", std::strerror(why));
  }
}

/// Opens a temporary file beside the target, and locks it for as long as it is open. Before it is locked another
/// process may take it for abandoned and remove it; then the next name is tried.
void NewFile::open_beside() {
  constexpr int kMostTries = 1000;
  for (int i = 0; i < kMostTries; ++i) {
    temporary_ = str(target_, ".", ::getpid(), "-", i, kSuffix);
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ < 0 && errno == EEXIST) continue;
    if (file_ < 0) return;
    ::flock(file_, LOCK_EX | LOCK_NB);  // a file system without locks has no cleaning either
    if (is_at(file_, temporary_)) break;
    ::close(file_);
    file_ = -1;
  }
  struct stat before {};
  if (file_ >= 0 && ::stat(target_.c_str(), &before) == 0)
    static_cast<void>(::fchmod(file_, before.st_mode & 07777));  // if refused, the new file's own mode will do
}

NewFile::~NewFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (file_ >= 0) ::close(file_);
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
  const bool renames = !temporary_.empty();
  if (renames && ::fsync(file_) != 0) fail_to_write();  // some file systems find out only now that they are full
  // The file is renamed while it is locked. If it were closed first, another process could remove it.
  if (renames && ::rename(temporary_.c_str(), target_.c_str()) != 0) fail_to_write();
  temporary_.clear();
  if (::close(std::exchange(file_, -1)) != 0) fail_to_write();
}

void NewFile::fail_to_write() {
  fail("cannot write ", what_, " ", path_, ": ", std::strerror(errno), " (after ", size_bytes_, " bytes)");
}

}  // namespace kiln::cli
