#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/mapped_pages.h"

namespace kiln {
namespace {

std::unexpected<Error> failed(const std::string& path, std::string_view action, int reason) {
  return error(reason == ENOENT || reason == ENOTDIR ? Code::kNotFound : Code::kIo, "cannot ", action, " '", path,
               "': ", std::generic_category().message(reason));
}

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  if (path.find('\0') != std::string::npos)
    return error(Code::kInvalidArgument, "cannot open '", path.c_str(), "...': the name contains a zero byte");
  // O_NONBLOCK: a FIFO must be refused below, not waited for here.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0) return failed(path, "open", errno);
  struct stat info {};
  if (::fstat(file.number, &info) != 0) return failed(path, "examine", errno);
  if (!S_ISREG(info.st_mode))
    return error(Code::kIo, "cannot read '", path, "': it is ", S_ISDIR(info.st_mode) ? "a folder" : "not a file");

  std::span<const std::byte> bytes;
  if (info.st_size > 0) {  // an empty range cannot be mapped
    const auto size = static_cast<size_t>(info.st_size);
    const void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
    if (start == MAP_FAILED) return failed(path, "map", errno);
    bytes = {static_cast<const std::byte*>(start), size};
    add_mapped_pages(bytes);
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(bytes));
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  remove_mapped_pages(bytes_);
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace kiln
