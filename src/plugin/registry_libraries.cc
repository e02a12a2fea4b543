// Libraries of plugins in a registry.
#include <algorithm>
#include <atomic>

#include "plugin/registry.h"

namespace kiln::plugin {
namespace {

/// A number that no other handle of the process has, so that a stale handle is never another library's.
nvinfer1::IPluginRegistry::PluginLibraryHandle new_handle() {
  static std::atomic<uintptr_t> last{0};
  return reinterpret_cast<void*>(++last);
}

}  // namespace

bool Registry::uses_code_of(const Library& library) const {
  if (!resources_.used_code_of(library).empty()) return true;
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(creators_, [&](const auto& entry) { return entry.second.is_own_of(library); });
}

void Registry::remove_code_of(const Library& library) {
  const std::lock_guard lock(mutex_);
  std::erase_if(creators_, [&](const auto& entry) { return entry.second.is_own_of(library); });
}

Registry::PluginLibraryHandle Registry::loadLibrary(AsciiChar const* path) noexcept {
  return guarded("loadLibrary", PluginLibraryHandle{}, [&] { return load(path); });
}

Result<Registry::PluginLibraryHandle> Registry::load(AsciiChar const* path) {
  TRY(require(path, "the path is null"));
  Library library = TRY(Library::open(path));
  const std::string file = library.path();
  auto handle = add(library);
  if (!handle) library.take_back();
  return in_context(std::move(handle), [&] { return str("library '", file, "'"); });
}

/// Registers a library's creators, and takes it. Where that fails, the library stays the caller's.
Result<Registry::PluginLibraryHandle> Registry::add(Library& library) {
  std::vector<std::pair<Key, Entry>> described;
  for (Creator* creator : TRY(library.creators())) described.push_back(TRY(describe(*creator, nullptr)));
  return add(library, std::move(described));
}

/// Registers all creators of a library, or none; takes the library if it is not here yet.
Result<Registry::PluginLibraryHandle> Registry::add(Library& library, std::vector<std::pair<Key, Entry>> described) {
  const auto handle = new_handle();
  const std::lock_guard lock(mutex_);
  for (const auto& loaded : libraries_)
    if (loaded->library.same_file(library)) return loaded->handles.insert(handle), handle;
  Entries added;
  for (auto& [key, entry] : described) {
    TRY(check_free(key));
    TRY(require(added.try_emplace(key, entry).second, "it has two creators of ", text_of(key)));
  }
  libraries_.push_back(std::make_unique<Loaded>(std::move(library), std::set{handle}));
  for (auto& [key, entry] : added) entry.library = libraries_.back().get();
  creators_.merge(added);
  return handle;
}

void Registry::deregisterLibrary(PluginLibraryHandle handle) noexcept {
  succeeds("deregisterLibrary", [&] { return unload(handle); });
}

Status Registry::unload(PluginLibraryHandle handle) {
  std::unique_ptr<Loaded> last;  // unloaded behind the lock
  const std::lock_guard lock(mutex_);
  const auto found =
      std::ranges::find_if(libraries_, [&](const auto& loaded) { return loaded->handles.contains(handle); });
  if (found == libraries_.end())
    return error(Code::kInvalidArgument, "loadLibrary of this registry gave out no such handle, or it is deregistered");
  Loaded& loaded = **found;
  if (loaded.handles.size() == 1) {
    for (const Resources* resources : {&resources_, &process_registry().resources_})
      if (const std::string use = resources->used_code_of(loaded.library); !use.empty())
        return error(Code::kState, "library '", loaded.library.path(), "' is in use: ", use);
    std::erase_if(creators_, [&](const auto& entry) { return entry.second.library == &loaded; });
    last = std::move(*found);
    libraries_.erase(found);
  } else {
    loaded.handles.erase(handle);
  }
  return {};
}

}  // namespace kiln::plugin
