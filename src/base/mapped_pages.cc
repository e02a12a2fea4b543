#include "base/mapped_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

namespace kiln {
namespace {

/// All mapped files of the process: pages may be released only inside them, since elsewhere their content would be
/// lost. There is one list because a process has one address space.
struct Mappings {
  std::mutex mutex;
  std::map<const std::byte*, const std::byte*> ends;  // by begin
};

Mappings& mappings() {
  static auto* const all = new Mappings;  // files may be unmapped after static objects are gone
  return *all;
}

bool lie_in_one_file(std::span<const std::byte> bytes) {
  Mappings& all = mappings();
  const std::lock_guard lock(all.mutex);
  const auto behind = all.ends.upper_bound(bytes.data());
  return behind != all.ends.begin() && bytes.data() + bytes.size() <= std::prev(behind)->second;
}

}  // namespace

void add_mapped_pages(std::span<const std::byte> file) {
  Mappings& all = mappings();
  const std::lock_guard lock(all.mutex);
  all.ends[file.data()] = file.data() + file.size();
}

void remove_mapped_pages(std::span<const std::byte> file) {
  Mappings& all = mappings();
  const std::lock_guard lock(all.mutex);
  all.ends.erase(file.data());
}

void release_pages(std::span<const std::byte> bytes) {
  constexpr size_t kLeastBytes = size_t{1} << 20;
  if (bytes.size() < kLeastBytes || !lie_in_one_file(bytes)) return;
  static const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(bytes.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(bytes.data() + bytes.size()) / page * page;
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);  // if it is refused, the pages stay
}

}  // namespace kiln
