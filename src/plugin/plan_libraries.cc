#include "plugin/plan_libraries.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>

#include "base/hash.h"
#include "plugin/creator_identity.h"
#include "plugin/library.h"

namespace kiln::plugin {
namespace {

/// A file that holds a library while it is loaded. The loader takes a library of the same path for this one: the path
/// is no other file's as long as this is open.
class TemporaryFile {
 public:
  static Result<TemporaryFile> in_memory() {
    constexpr unsigned kExecutable = 0x10;  // MFD_EXEC of newer kernels, some of which make others without
    int file = ::memfd_create("kiln_plugin_library", MFD_CLOEXEC | kExecutable);
    if (file < 0 && errno == EINVAL) file = ::memfd_create("kiln_plugin_library", MFD_CLOEXEC);
    if (file < 0) return error(Code::kIo, "memfd_create: ", std::strerror(errno));
    return TemporaryFile(file, str("/proc/self/fd/", file), false);
  }
  static Result<TemporaryFile> on_disk(const std::string& directory) {
    static std::atomic<int> number{0};
    std::string path = str(directory, "/kiln_plugin_library_", ::getpid(), "_", ++number, "_XXXXXX");
    const int file = ::mkostemp(path.data(), O_CLOEXEC);
    if (file < 0) return error(Code::kIo, path, ": ", std::strerror(errno));
    return TemporaryFile(file, std::move(path), true);
  }
  TemporaryFile(TemporaryFile&& other) noexcept
      : file_(std::exchange(other.file_, -1)), path_(std::move(other.path_)), on_disk_(other.on_disk_) {}
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile() {
    if (file_ < 0) return;
    remove();
    // A library that stays loaded for good keeps its path for good.
    if (void* loaded = ::dlopen(path_.c_str(), RTLD_LAZY | RTLD_NOLOAD))
      static_cast<void>(::dlclose(loaded));
    else
      ::close(file_);
  }

  Status write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return error(Code::kIo, path_, ": ", std::strerror(written < 0 ? errno : ENOSPC));
      bytes = bytes.subspan(static_cast<size_t>(written));
    }
    return {};
  }
  /// Takes it out of its folder, so that nothing is left there whatever becomes of the process.
  void remove() {
    if (std::exchange(on_disk_, false)) ::unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  TemporaryFile(int file, std::string path, bool on_disk) : file_(file), path_(std::move(path)), on_disk_(on_disk) {}

  int file_;
  std::string path_;
  bool on_disk_;
};

Result<TemporaryFile> written(Result<TemporaryFile> file, std::span<const std::byte> bytes) {
  if (file) TRY(file->write(bytes));
  return file;
}

std::string system_directory() {
  const char* named = std::getenv("TMPDIR");
  return named && *named ? named : "/tmp";
}

using Creators = std::vector<std::pair<PluginIdentity, PlanLibraries::Creator*>>;

Result<Creators> ask_creators(const Library& library) {
  Creators creators;
  for (PlanLibraries::Creator* creator : TRY(library.creators())) {
    const CreatorIdentity id = identity_of(*creator);
    TRY(require(id.name && id.version, "a creator's name or version is null, or its kind '", interface_name(*creator),
                "' is not one that Kiln knows"));
    creators.push_back({{id.name, id.version, id.plugin_namespace ? id.plugin_namespace : ""}, creator});
  }
  return creators;
}

Result<Creators> creators_of(const Library& library) {
  auto creators = ask_creators(library);
  if (!creators) library.take_back();
  return creators;
}

/// The plugins that libraries of one plan bring, each with the name of its library.
class BroughtPlugins {
 public:
  /// Fails where `library` brings a plugin that is there already: the order of libraries would choose among creators.
  Status add(const Creators& creators, const std::string& library) {
    for (const auto& [plugin, creator] : creators) {
      const auto before = std::ranges::find(plugins_, plugin, &std::pair<PluginIdentity, std::string>::first);
      if (before != plugins_.end())
        return error(Code::kInvalidArgument, "it brings ", plugin, ", as '", before->second,
                     "' does; one library of a plan may bring it");
      plugins_.emplace_back(plugin, library);
    }
    return {};
  }

 private:
  std::vector<std::pair<PluginIdentity, std::string>> plugins_;
};

}  // namespace

/// A library that came from a plan. Unloaded before its file is closed.
struct PlanLibraries::Loaded {
  TemporaryFile file;
  Library library;
  Creators creators;
};

namespace {

using Loaded = PlanLibraries::Loaded;

/// Libraries of plans that engines of the process keep loaded, by their bytes.
class SharedLibraries {
 public:
  std::shared_ptr<const Loaded> find(const Hash128& bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = loaded_.find(bytes);
    return found == loaded_.end() ? nullptr : found->second.lock();
  }
  /// The one that is shared for these bytes: another thread's, or else `loaded`.
  std::shared_ptr<const Loaded> share(const Hash128& bytes, std::shared_ptr<const Loaded> loaded) {
    const std::lock_guard lock(mutex_);
    std::erase_if(loaded_, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<const Loaded>& shared = loaded_[bytes];
    if (auto earlier = shared.lock()) return earlier;
    shared = loaded;
    return loaded;
  }

 private:
  std::mutex mutex_;
  std::map<Hash128, std::weak_ptr<const Loaded>> loaded_;  ///< those that are unloaded go when another one comes
};
SharedLibraries& shared_libraries() {
  static SharedLibraries& all = *new SharedLibraries;  // engines may outlive static objects
  return all;
}

Result<std::shared_ptr<const Loaded>> load_from(Result<TemporaryFile> empty, std::span<const std::byte> bytes) {
  TemporaryFile file = TRY(written(std::move(empty), bytes));
  Library library = TRY(Library::open(file.path().c_str()));
  file.remove();
  auto creators = TRY(creators_of(library));
  return std::make_shared<const Loaded>(std::move(file), std::move(library), std::move(creators));
}

/// In memory, or, where that does not go (systems may forbid code in such files), on disk.
Result<std::shared_ptr<const Loaded>> load_anywhere(std::span<const std::byte> bytes, const TemporaryFiles& files) {
  const std::string directory = files.directory.empty() ? system_directory() : files.directory;
  if (!files.in_memory && !files.on_disk)
    return error(Code::kState,
                 "it needs a file to be loaded from, and setTempfileControlFlags allows neither files in memory nor "
                 "temporary ones");
  if (!files.in_memory) return load_from(TemporaryFile::on_disk(directory), bytes);
  auto in_memory = load_from(TemporaryFile::in_memory(), bytes);
  // One that was loaded and then failed would do so again.
  if (in_memory || !files.on_disk || in_memory.error().code == Code::kState) return in_memory;
  auto on_disk = load_from(TemporaryFile::on_disk(directory), bytes);
  return on_disk ? std::move(on_disk) : std::move(in_memory);
}

/// Runs code of the library, so under no lock.
Result<std::shared_ptr<const Loaded>> load_one(const plan::Weight& stored, const TemporaryFiles& files) {
  const std::span<const std::byte> bytes = stored.value.bytes();
  const Hash128 hash = hash128(bytes);
  if (auto shared = shared_libraries().find(hash)) return shared;
  return shared_libraries().share(hash, TRY(load_anywhere(bytes, files)));
}

Result<plan::Weight> read_library(const std::string& path, BroughtPlugins& brought) {
  const Library library = TRY(Library::open(path.c_str()));
  TRY(brought.add(TRY(creators_of(library)), path));
  std::ifstream file(library.path(), std::ios::binary | std::ios::ate);  // which the loader may have looked for
  const std::streamoff size = file.tellg();
  if (!file || size < 0) return error(Code::kIo, std::strerror(errno));
  HostTensor::Fresh fresh = TRY(HostTensor::make(DType::kU8, {size}));
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(fresh.data.data()), size)) return error(Code::kIo, "it cannot be read whole");
  return plan::Weight{.name = path, .value = std::move(fresh.tensor), .from = {}};
}

}  // namespace

PlanLibraries::PlanLibraries(std::vector<std::shared_ptr<const Loaded>> libraries) : libraries_(std::move(libraries)) {}

Result<std::shared_ptr<const PlanLibraries>> PlanLibraries::load(std::span<const plan::Weight> libraries,
                                                                 const TemporaryFiles& files) {
  std::vector<std::shared_ptr<const Loaded>> loaded;
  for (const plan::Weight& library : libraries)
    loaded.push_back(TRY(
        in_context(load_one(library, files), [&] { return str("plugin library '", library.name, "' of the plan"); })));
  return std::shared_ptr<const PlanLibraries>(new PlanLibraries(std::move(loaded)));
}

PlanLibraries::Creator* PlanLibraries::find(const PluginIdentity& plugin) const {
  for (const auto& library : libraries_)
    for (const auto& [identity, creator] : library->creators)
      if (identity == plugin) return creator;
  return nullptr;
}

Result<std::vector<plan::Weight>> read_libraries(std::span<const std::string> paths) {
  std::vector<plan::Weight> libraries;
  BroughtPlugins brought;
  for (const std::string& path : paths)
    libraries.push_back(
        TRY(in_context(read_library(path, brought), [&] { return str("setPluginsToSerialize: '", path, "'"); })));
  return libraries;
}

}  // namespace kiln::plugin
