#include "plugin/registry.h"

#include <NvInferPlugin.h>

#include <array>
#include <cstdio>
#include <new>

#include "base/address_of.h"
#include "base/str.h"
#include "plugin/creator_identity.h"

namespace kiln::plugin {
namespace {

using nvinfer1::ErrorCode;

constexpr size_t kLongestName = 1023;  ///< the API's limit, of 1024 with the final zero

ErrorCode error_code(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kCorrupt: return ErrorCode::kINVALID_ARGUMENT;
    case Code::kState: return ErrorCode::kINVALID_STATE;
    default: return ErrorCode::kUNSPECIFIED_ERROR;
  }
}

/// The registries that this thread is asking, from the inside out: parents may form a ring.
struct Asking {
  explicit Asking(const Registry& registry) : registry(&registry), outer(innermost) { innermost = this; }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking() { innermost = outer; }
  static bool has(const Registry& registry) {
    for (const Asking* at = innermost; at; at = at->outer)
      if (at->registry == &registry) return true;
    return false;
  }

  const Registry* registry;
  Asking* outer;
  static thread_local Asking* innermost;
};
thread_local Asking* Asking::innermost = nullptr;

/// The list of that content, which stays where it is; null if that is empty.
template <class T>
T* const* stable_list(std::set<std::vector<T*>>& lists, std::vector<T*> list, int32_t* count) {
  if (list.empty()) return nullptr;
  const std::vector<T*>& stable = *lists.insert(std::move(list)).first;
  if (count) *count = static_cast<int32_t>(stable.size());
  return stable.data();
}

}  // namespace

Registry::~Registry() {
  for (const Error& failure : resources_.clear())
    succeeds("releasePluginResource", [&]() -> Status { return std::unexpected(failure); });
  creators_.clear();
  libraries_.clear();  // while the recorder can be told what their last code calls
}

void Registry::set_parent(nvinfer1::IPluginRegistry* parent) {
  const std::lock_guard lock(mutex_);
  parent_ = parent;
}

/// The registry to ask further; null if there is none, or if it is not to be asked.
nvinfer1::IPluginRegistry* Registry::parent() const {
  const std::lock_guard lock(mutex_);
  return search_parent_ ? parent_ : nullptr;
}

void Registry::set_logger(nvinfer1::ILogger* logger) {
  const std::lock_guard lock(mutex_);
  logger_ = logger;
}

nvinfer1::ILogger* Registry::logger() const {
  const std::lock_guard lock(mutex_);
  return logger_;
}

/// Tells recorder and logger, without memory. Where there is neither, as before the process has a builder or a runtime,
/// standard error has to do.
void Registry::tell(ErrorCode code, const char* to_recorder, const char* to_logger) const noexcept {
  const auto recorder = held_recorder();
  nvinfer1::ILogger* const told = logger();
  if (recorder) recorder->reportError(code, to_recorder);
  if (told) told->log(nvinfer1::ILogger::Severity::kERROR, to_logger);
  if (!recorder && !told) std::fprintf(stderr, "%s\n", to_logger);
}

/// Tells recorder and logger of an error; returns whether there is none.
bool Registry::report(const char* call, const Status& status) const {
  if (status) return true;
  const std::string text = str("IPluginRegistry::", call, ": ", status.error().message);
  tell(error_code(status.error().code), text.substr(0, nvinfer1::IErrorRecorder::kMAX_DESC_LENGTH).c_str(),
       text.c_str());
  return false;
}

/// Tells of the exception that is being handled.
void Registry::report_current_exception(const char* call) const noexcept {
  const auto tell_words = [&](ErrorCode code, const char* words) {
    std::array<char, nvinfer1::IErrorRecorder::kMAX_DESC_LENGTH + 1> text{};  // there may be no memory for a longer one
    std::snprintf(text.data(), text.size(), "IPluginRegistry::%s: %s", call, words);
    tell(code, text.data(), text.data());
  };
  try {
    throw;
  } catch (const std::bad_alloc&) {
    tell_words(ErrorCode::kFAILED_ALLOCATION, "out of memory");
  } catch (const std::exception& thrown) {
    tell_words(ErrorCode::kINTERNAL_ERROR, thrown.what());
  } catch (...) {
    tell_words(ErrorCode::kINTERNAL_ERROR, "an exception that is no std::exception was thrown");
  }
}

std::string Registry::text_of(const Key& key) {
  return str("'", key.name, "' version '", key.version, "' in namespace '", key.plugin_namespace, "'");
}

/// Asks a creator for its names. Without a namespace given, its own counts.
Result<std::pair<Registry::Key, Registry::Entry>> Registry::describe(Creator& creator,
                                                                     AsciiChar const* plugin_namespace) {
  TRY(require(address_of(creator), "the creator is null"));
  const CreatorKind kind = kind_of(creator);
  TRY(require(kind != CreatorKind::kUnknown, "the creator's kind '", interface_name(creator),
              "' is not one that Kiln knows"));
  const CreatorIdentity id = identity_of(creator);
  TRY(require(id.name && id.version, "the creator's ", id.name ? "version" : "name", " is null"));
  TRY(require(*id.name != '\0', "the creator's name is empty"));
  if (!plugin_namespace) plugin_namespace = id.plugin_namespace;
  Key key{id.name, id.version, plugin_namespace ? plugin_namespace : ""};
  for (const std::string* text : {&key.name, &key.version, &key.plugin_namespace})
    TRY(require(text->size() <= kLongestName, "a name, version or namespace of ", text->size(),
                " characters is longer than ", kLongestName, ": '", text->substr(0, 32), "...'"));
  OldCreator* old = kind == CreatorKind::kV1 ? static_cast<OldCreator*>(&creator) : nullptr;
  return std::pair{std::move(key), Entry{&creator, old, code_of(&creator), nullptr, nullptr}};
}

/// Fails if there is a creator of that key. Called under the lock.
Status Registry::check_free(const Key& key) const {
  return require(!creators_.contains(key), "there is a creator of ", text_of(key), " already");
}

bool Registry::registerCreator(OldCreator& creator, AsciiChar const* plugin_namespace) noexcept {
  return succeeds("registerCreator", [&] { return add(creator, plugin_namespace); });
}
bool Registry::registerCreator(Creator& creator, AsciiChar const* plugin_namespace) noexcept {
  return succeeds("registerCreator", [&] { return add(creator, plugin_namespace); });
}

Status Registry::add(Creator& creator, AsciiChar const* plugin_namespace) {
  if (!plugin_namespace) plugin_namespace = "";
  auto described = TRY(describe(creator, plugin_namespace));
  if (this != &process_registry() && this != &safe_registry()) described.second.held_code = keep_code_of(&creator);
  {
    const std::lock_guard lock(mutex_);
    TRY(check_free(described.first));
  }
  // Whoever finds the creator has to find its namespace set. Some creators keep the pointer, so it is the caller's own.
  if (OldCreator* old = described.second.old) old->setPluginNamespace(plugin_namespace);
  const std::lock_guard lock(mutex_);
  TRY(check_free(described.first));
  creators_.insert(std::move(described));
  return {};
}

/// All creators. Called under the lock.
std::vector<Registry::Creator*> Registry::all() const {
  std::vector<Creator*> creators;
  for (const auto& [key, entry] : creators_) creators.push_back(entry.creator);
  return creators;
}

Registry::OldCreator* const* Registry::getPluginCreatorList(int32_t* count) const noexcept {
  if (count) *count = 0;
  using List = OldCreator* const*;
  return guarded("getPluginCreatorList", List{}, [&]() -> List {
    const std::lock_guard lock(mutex_);
    std::vector<OldCreator*> old;
    for (const auto& [key, entry] : creators_)
      if (entry.old) old.push_back(entry.old);
    return stable_list(old_lists_, std::move(old), count);
  });
}

Registry::Creator* const* Registry::getAllCreators(int32_t* count) const noexcept {
  if (count) *count = 0;
  using List = Creator* const*;
  return guarded("getAllCreators", List{}, [&]() -> List {
    const std::lock_guard lock(mutex_);
    return stable_list(lists_, all(), count);
  });
}

Registry::Creator* const* Registry::getAllCreatorsRecursive(int32_t* count) noexcept {
  if (count) *count = 0;
  int32_t size = 0;
  using List = Creator* const*;
  List above = nullptr;
  if (nvinfer1::IPluginRegistry* asked = Asking::has(*this) ? nullptr : parent()) {
    const Asking here(*this);
    above = asked->getAllCreatorsRecursive(&size);
  }
  return guarded("getAllCreatorsRecursive", List{}, [&]() -> List {
    const std::lock_guard lock(mutex_);
    std::vector<Creator*> creators = all();
    if (above) creators.insert(creators.end(), above, above + size);
    return stable_list(lists_, std::move(creators), count);
  });
}

Registry::OldCreator* Registry::getPluginCreator(AsciiChar const* name, AsciiChar const* version,
                                                 AsciiChar const* plugin_namespace) noexcept {
  Creator* found = getCreator(name, version, plugin_namespace);
  return found && kind_of(*found) == CreatorKind::kV1 ? static_cast<OldCreator*>(found) : nullptr;
}

Registry::Creator* Registry::getCreator(AsciiChar const* name, AsciiChar const* version,
                                        AsciiChar const* plugin_namespace) noexcept {
  bool has_failed = false;
  Creator* const here = guarded("getCreator", static_cast<Creator*>(nullptr), [&]() -> Result<Creator*> {
    has_failed = true;
    TRY(require(name && version, "the ", name ? "version" : "name", " is null"));
    const Key key{name, version, plugin_namespace ? plugin_namespace : ""};
    const std::lock_guard lock(mutex_);
    const auto found = creators_.find(key);
    has_failed = false;
    return found == creators_.end() ? nullptr : found->second.creator;
  });
  if (here || has_failed) return here;
  nvinfer1::IPluginRegistry* asked = Asking::has(*this) ? nullptr : parent();
  if (!asked) return nullptr;
  const Asking asking(*this);
  return asked->getCreator(name, version, plugin_namespace);
}

bool Registry::deregisterCreator(OldCreator const& creator) noexcept {
  return succeeds("deregisterCreator", [&] { return remove(creator); });
}
bool Registry::deregisterCreator(Creator const& creator) noexcept {
  return succeeds("deregisterCreator", [&] { return remove(creator); });
}

Status Registry::remove(const Creator& creator) {
  TRY(require(address_of(creator), "the creator is null"));
  Entries removed;  // what they keep loaded goes behind the lock
  {
    const std::lock_guard lock(mutex_);
    for (auto at = creators_.begin(); at != creators_.end();) {
      const auto here = at++;
      if (here->second.creator == &creator) removed.insert(creators_.extract(here));
    }
  }
  if (!removed.empty()) return {};
  const CreatorIdentity id = identity_of(creator);
  return error(Code::kInvalidArgument, "creator '", id.name, "' version '", id.version, "' in namespace '",
               id.plugin_namespace, "' is not registered here");
}

void Registry::setErrorRecorder(nvinfer1::IErrorRecorder* recorder) noexcept {
  succeeds("setErrorRecorder", [&]() -> Status {
    std::shared_ptr<nvinfer1::IErrorRecorder> held;
    if (recorder) {
      recorder->incRefCount();
      held.reset(recorder, [](nvinfer1::IErrorRecorder* last) { last->decRefCount(); });
    }
    const std::lock_guard lock(mutex_);
    recorder_.swap(held);
    return {};
  });
}

nvinfer1::IErrorRecorder* Registry::getErrorRecorder() const noexcept { return held_recorder().get(); }

/// The recorder, with a reference that keeps it alive while it is told.
std::shared_ptr<nvinfer1::IErrorRecorder> Registry::held_recorder() const {
  const std::lock_guard lock(mutex_);
  return recorder_;
}

bool Registry::isParentSearchEnabled() const {
  const std::lock_guard lock(mutex_);
  return search_parent_;
}

void Registry::setParentSearchEnabled(bool enabled) {
  const std::lock_guard lock(mutex_);
  search_parent_ = enabled;
}

nvinfer1::IPluginResource* Registry::acquirePluginResource(AsciiChar const* key,
                                                           nvinfer1::IPluginResource* resource) noexcept {
  return guarded("acquirePluginResource", static_cast<nvinfer1::IPluginResource*>(nullptr),
                 [&]() -> Result<nvinfer1::IPluginResource*> {
                   TRY(require(key && resource, "the ", key ? "resource" : "key", " is null"));
                   return resources_.acquire(key, *resource);
                 });
}

int32_t Registry::releasePluginResource(AsciiChar const* key) noexcept {
  const bool released = succeeds("releasePluginResource", [&]() -> Status {
    TRY(require(key, "the key is null"));
    return resources_.release(key);
  });
  return released ? 0 : -1;
}

Registry& process_registry() {
  static Registry& registry = *new Registry;
  return registry;
}

Registry& safe_registry() {
  static Registry& registry = *new Registry;
  return registry;
}

}  // namespace kiln::plugin
