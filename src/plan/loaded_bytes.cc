#include "plan/loaded_bytes.h"

#include <sys/mman.h>

#include <algorithm>

namespace kiln::plan {
namespace {

constexpr uint64_t kFirstBytes = uint64_t{1} << 20;

/// Pages of our own, moved rather than copied when they grow.
class Pages {
 public:
  Pages() = default;
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() {
    if (data_) ::munmap(data_, size_);
  }
  Status resize(uint64_t size) {
    void* moved = data_ ? ::mremap(data_, size_, size, MREMAP_MAYMOVE)
                        : ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (moved == MAP_FAILED) return error(Code::kOutOfMemory, "no memory for ", size, " bytes");
    data_ = static_cast<std::byte*>(moved);
    size_ = size;
    return {};
  }
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace

Result<LoadedBytes> load_bytes(Source& source, uint64_t offset, uint64_t size) {
  if (size == 0) return LoadedBytes{};
  const auto pages = std::make_shared<Pages>();
  for (uint64_t done = 0; done < size;) {
    const uint64_t until = source.size() ? size : std::min(size, std::max(kFirstBytes, 2 * done));
    TRY(pages->resize(until));
    TRY(source.read(offset + done, {pages->data() + done, until - done}));
    done = until;
  }
  return LoadedBytes{{pages->data(), size}, pages};
}

}  // namespace kiln::plan
