#include "backend/cuda/compile/kernel_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/mapped_file.h"

namespace kiln::cuda {
namespace {

constexpr std::string_view kCompilerFile = "/kernels/nvrtc";

/// Stands before the cubin in a file.
struct Header {
  char magic[8] = {'k', 'i', 'l', 'n', 'c', 'u', 'b', '1'};
  uint64_t size = 0;
  Hash128 hash;
};

std::unexpected<Error> refused(std::string_view what, const std::string& path) {
  return error(Code::kIo, "cannot ", what, " '", path, "': ", std::strerror(errno));
}

Status make_folders(const std::string& path) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string folder = path.substr(0, at);
    if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) return refused("make folder", folder);
    if (at == path.npos) return {};
  }
}

Status write_all(int file, const void* data, size_t size, const std::string& path) {
  for (const auto* at = static_cast<const char*>(data); size > 0;) {
    const ssize_t written = ::write(file, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return refused("write", path);
    at += written;
    size -= static_cast<size_t>(written);
  }
  return {};
}

}  // namespace

std::string default_cache_folder() {
  const auto value = [](const char* name) -> std::string_view {
    const char* text = std::getenv(name);
    return text ? text : "";
  };
  if (const auto given = value("KILN_CACHE_DIR"); !given.empty()) return std::string(given);
  if (const auto base = value("XDG_CACHE_HOME"); !base.empty()) return str(base, "/kiln");
  if (const auto home = value("HOME"); !home.empty()) return str(home, "/.cache/kiln");
  return {};
}

std::string KernelCache::path_of(const Hash128& key) const { return str(folder_, "/kernels/", key, ".cubin"); }

std::shared_ptr<const Bytes> KernelCache::find(const Hash128& key) const {
  if (folder_.empty()) return nullptr;
  const auto file = MappedFile::open(path_of(key));
  if (!file) return nullptr;
  const std::span<const std::byte> bytes = (*file)->bytes();
  Header header;
  if (bytes.size() < sizeof header) return nullptr;
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto cubin = bytes.subspan(sizeof header);
  if (std::memcmp(header.magic, Header().magic, sizeof header.magic) != 0 || header.size != cubin.size() ||
      header.hash != hash128(cubin))
    return nullptr;
  return std::make_shared<const Bytes>(cubin.begin(), cubin.end());
}

void KernelCache::store(const Hash128& key, const Bytes& cubin) {
  if (folder_.empty()) {
    notices_.add(Severity::kInfo,
                 "compiled kernels are not kept for later builds: there is neither KILN_CACHE_DIR nor HOME");
    return;
  }
  if (broken_.load(std::memory_order_relaxed)) return;
  Header header;
  header.size = cubin.size();
  header.hash = hash128(cubin);
  const Status written = write(path_of(key), std::as_bytes(std::span(&header, 1)), cubin);
  if (written || broken_.exchange(true)) return;
  notices_.add(Severity::kWarning, str("compiled kernels are not kept for later builds: ", written.error().message,
                                       "; set KILN_CACHE_DIR to a folder with room"));
}

std::string KernelCache::compiler() const {
  constexpr size_t kMost = 16;
  if (folder_.empty()) return {};
  const auto file = MappedFile::open(str(folder_, kCompilerFile));
  if (!file || (*file)->bytes().size() > kMost) return {};
  return {reinterpret_cast<const char*>((*file)->bytes().data()), (*file)->bytes().size()};
}

void KernelCache::note_compiler(const std::string& version) {
  if (folder_.empty() || broken_.load(std::memory_order_relaxed) || compiler() == version) return;
  static_cast<void>(
      write(str(folder_, kCompilerFile), {}, std::as_bytes(std::span(version))));  // writing kernels tells of errors
}

Status KernelCache::write(const std::string& path, std::span<const std::byte> header,
                          std::span<const std::byte> bytes) const {
  TRY(make_folders(str(folder_, "/kernels")));
  std::string beside = str(path, ".XXXXXX");
  const int file = mkostemp(beside.data(), O_CLOEXEC);
  if (file < 0) return refused("make file", beside);
  Status done = write_all(file, header.data(), header.size(), beside);
  if (done) done = write_all(file, bytes.data(), bytes.size(), beside);
  if (close(file) != 0 && done) done = refused("write", beside);
  if (done && rename(beside.c_str(), path.c_str()) != 0) done = refused("rename", beside);
  if (!done) unlink(beside.c_str());
  return done;
}

}  // namespace kiln::cuda
