#include "plan/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace kiln::plan {
namespace {

/// The file that `path` means, links followed; `path` itself where there is none yet.
std::string followed(const std::string& path) {
  char* const resolved = ::realpath(path.c_str(), nullptr);
  std::string target = resolved ? resolved : path;
  std::free(resolved);
  return target;
}

}  // namespace

std::unexpected<Error> FileSink::failed(std::string_view action, int reason) const {
  return error(Code::kIo, "cannot ", action, " '", path_, "': ", std::generic_category().message(reason));
}

Result<std::unique_ptr<FileSink>> FileSink::create(const std::string& path) {
  std::unique_ptr<FileSink> sink(new FileSink);
  sink->path_ = path;
  if (path.empty() || path.find('\0') != std::string::npos)
    return error(Code::kInvalidArgument, "cannot create a file of the name '", path.c_str(), "'");
  sink->target_ = followed(path);
  struct stat info {};
  const bool exists = ::stat(sink->target_.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return sink->failed("write", EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    sink->descriptor_ = ::open(sink->target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (sink->descriptor_ < 0) return sink->failed("open", errno);
    return sink;
  }
  static std::atomic<unsigned> counter{0};
  do {
    sink->temporary_ = str(sink->target_, ".", ::getpid(), "-", counter++, ".tmp");
    sink->descriptor_ = ::open(sink->temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (sink->descriptor_ < 0 && errno == EEXIST);
  if (sink->descriptor_ < 0) {
    const int reason = errno;
    sink->temporary_.clear();
    return sink->failed("create", reason);
  }
  if (exists) ::fchmod(sink->descriptor_, info.st_mode & 07777);  // if refused, the new file's own mode will do
  return sink;
}

FileSink::~FileSink() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status FileSink::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), size_t{1} << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed("write", errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Status FileSink::commit() {
  const bool renames = !temporary_.empty();
  // Some file systems find out only now that they are full.
  if (renames && ::fsync(descriptor_) != 0) return failed("write", errno);
  if (::close(std::exchange(descriptor_, -1)) != 0) return failed("write", errno);
  if (renames && ::rename(temporary_.c_str(), target_.c_str()) != 0) return failed("rename a file to", errno);
  temporary_.clear();
  return {};
}

Status write_file_atomically(const std::string& path, std::span<const std::byte> bytes) {
  const auto sink = TRY(FileSink::create(path));
  TRY(sink->write(bytes));
  return sink->commit();
}

Status write_plan_file(const Plan& plan, const std::string& path) {
  const auto sink = TRY(FileSink::create(path));
  TRY(write_plan(plan, *sink));
  return sink->commit();
}

}  // namespace kiln::plan
