#include "plugin/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "plugin/loader.h"
#include "plugin/registry.h"

namespace kiln::plugin {
namespace {

using Creator = nvinfer1::IPluginCreatorInterface;

/// Finds the logger for plugins of every library. It is never destroyed: libraries keep its address.
class LoggerFinder final : public nvinfer1::ILoggerFinder {
 public:
  nvinfer1::ILogger* findLogger() override { return process_registry().logger(); }
};
LoggerFinder& logger_finder() {
  static LoggerFinder& finder = *new LoggerFinder;
  return finder;
}

/// The loader maps segments of a file without a look at its size, and a process that reads behind the file's end is
/// killed.
Status check_segments(const char* path, uint64_t size_bytes) {
  std::ifstream file(path, std::ios::binary);
  ElfW(Ehdr) header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG))
    return error(Code::kCorrupt, "it is no shared library");
  if (header.e_phentsize != sizeof(ElfW(Phdr))) return {};  // of another machine: the loader says so
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof segment));
    const bool read = static_cast<bool>(file.read(reinterpret_cast<char*>(&segment), sizeof segment));
    if (!read || (segment.p_type == PT_LOAD &&
                  (segment.p_offset > size_bytes || segment.p_filesz > size_bytes - segment.p_offset)))
      return error(Code::kCorrupt, "segment ", i, " of ", header.e_phnum, " exceeds the file's ", size_bytes,
                   " bytes; it is truncated or damaged");
  }
  return {};
}

/// A path with a slash names a file; any other text is looked for by the loader where libraries are.
Status check_file(const char* path) {
  TRY(require(*path != '\0', "the path is empty"));  // the loader would open the program itself
  if (!std::strchr(path, '/')) return {};
  struct stat facts {};
  if (::stat(path, &facts) != 0) return error(Code::kNotFound, std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) return error(Code::kInvalidArgument, "it is no regular file");
  return check_segments(path, static_cast<uint64_t>(facts.st_size));
}

std::string real_path(const char* path) {
  char resolved[PATH_MAX];
  return ::realpath(path, resolved) ? resolved : path;
}

struct Extent {
  uintptr_t base = 0;  ///< of the object looked for
  uintptr_t begin = UINTPTR_MAX, end = 0;
};

/// Widens the extent by the segments of the object that is loaded at its base.
int add_segments(dl_phdr_info* object, size_t, void* data) {
  auto& extent = *static_cast<Extent*>(data);
  if (object->dlpi_addr != extent.base) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    extent.begin = std::min(extent.begin, object->dlpi_addr + segment.p_vaddr);
    extent.end = std::max(extent.end, object->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  return 1;
}

template <class Listed>
Result<std::vector<Creator*>> checked(const char* entry, Listed* const* list, int32_t count) {
  if (count < 0 || (count > 0 && !list))
    return error(Code::kInvalidArgument, entry, " gave ", list ? "a list" : "null", " and a count of ", count);
  std::vector<Creator*> creators(list, list + count);
  for (size_t i = 0; i < creators.size(); ++i)
    if (!creators[i]) return error(Code::kInvalidArgument, entry, ": creator ", i, " of ", count, " is null");
  if (creators.empty()) return error(Code::kInvalidArgument, entry, " gave no creators");
  return creators;
}

template <class Listed>
Result<std::vector<Creator*>> ask(const char* name, Listed* const* (*entry)(int32_t&)) {
  int32_t count = 0;
  Listed* const* list = nullptr;
  TRY(run_foreign(name, [&] { list = entry(count); }));
  return checked(name, list, count);
}

}  // namespace

const void* code_of(const void* object) { return *static_cast<const void* const*>(object); }

std::shared_ptr<const void> keep_code_of(const void* object) {
  Dl_info symbol{};
  link_map* map = nullptr;
  const bool known = dladdr1(code_of(object), &symbol, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0;
  if (!known || !map || !*map->l_name) return nullptr;
  void* handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return nullptr;
  return {handle, [](void* held) { dlclose(held); }};
}

Result<Library> Library::open(const char* path) {
  const auto where = [&] { return str("library '", path, "'"); };
  TRY(in_context(check_file(path), where));
  const auto undo = [&](void* handle) { Library(handle, path, true).take_back(); };
  const SharedObject object = TRY(in_context(open_shared_object(path, undo), where));
  return Library(object.handle, path, object.is_new);
}

Library::Library(void* handle, const char* path, bool is_new) : handle_(handle), is_new_(is_new) {
  link_map* map = nullptr;
  const bool known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map;
  path_ = real_path(known && *map->l_name ? map->l_name : path);
  if (!known) return;
  Extent extent{.base = map->l_addr};
  dl_iterate_phdr(add_segments, &extent);
  begin_ = extent.begin, end_ = extent.end;
}

Library::Library(Library&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      path_(std::move(other.path_)),
      is_new_(other.is_new_),
      begin_(other.begin_),
      end_(other.end_) {}

Library::~Library() {
  if (!handle_ || process_registry().uses_code_of(*this) || safe_registry().uses_code_of(*this)) return;
  dlclose(handle_);
}

void Library::take_back() const {
  if (!is_new_) return;
  process_registry().remove_code_of(*this);
  safe_registry().remove_code_of(*this);
}

template <class Function>
Function* Library::entry(const char* name) const {
  return reinterpret_cast<Function*>(dlsym(handle_, name));
}

Result<std::vector<Creator*>> Library::creators() const {
  if (auto* set_finder = entry<void(nvinfer1::ILoggerFinder*)>("setLoggerFinder"))
    TRY(run_foreign("setLoggerFinder", [&] { set_finder(&logger_finder()); }));
  if (auto* all = entry<Creator* const*(int32_t&)>("getCreators")) return ask("getCreators", all);
  if (auto* old = entry<nvinfer1::IPluginCreator* const*(int32_t&)>("getPluginCreators"))
    return ask("getPluginCreators", old);
  return error(Code::kInvalidArgument,
               "it exports neither getCreators nor getPluginCreators; a library that registers its creators when it is "
               "loaded has to be loaded by dlopen, or by trtexec's --staticPlugins");
}

bool Library::contains(const void* address) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  return begin_ <= at && at < end_;
}

}  // namespace kiln::plugin
