#include "plugin/registry.h"

#include <NvInferPlugin.h>
#include <impl/NvInferPythonPlugin.h>

#include <cstring>
#include <optional>

#include "base/str.h"

namespace kiln::plugin {

using nvinfer1::ErrorCode;

namespace {

/// The interface whose functions a creator has. getInterfaceInfo tells it for sure, because the API forbids to override
/// that.
enum class CreatorKind { kV1, kV3One, kV3Quick, kUnknown };

CreatorKind kind_of(const nvinfer1::IPluginCreatorInterface& creator) {
  const char* kind = creator.getInterfaceInfo().kind;
  if (!std::strcmp(kind, "PLUGIN CREATOR_V1")) return CreatorKind::kV1;
  if (!std::strcmp(kind, "PLUGIN CREATOR_V3ONE")) return CreatorKind::kV3One;
  if (!std::strcmp(kind, "PLUGIN CREATOR_V3QUICK")) return CreatorKind::kV3Quick;
  return CreatorKind::kUnknown;
}

struct Identity {
  const char* name;
  const char* version;
};
std::optional<Identity> identity_of(nvinfer1::IPluginCreatorInterface& creator) {
  Identity id{};
  const auto ask = [&](auto& known) { id = {known.getPluginName(), known.getPluginVersion()}; };
  switch (kind_of(creator)) {
    case CreatorKind::kV1: ask(static_cast<nvinfer1::IPluginCreator&>(creator)); break;
    case CreatorKind::kV3One: ask(static_cast<nvinfer1::IPluginCreatorV3One&>(creator)); break;
    case CreatorKind::kV3Quick: ask(static_cast<nvinfer1::IPluginCreatorV3Quick&>(creator)); break;
    case CreatorKind::kUnknown: return std::nullopt;
  }
  if (!id.name || !id.version) return std::nullopt;
  return id;
}

}  // namespace

Registry::~Registry() {
  for (auto& [key, resource] : resources_) resource.clone->release();
  if (recorder_) recorder_->decRefCount();
}

void Registry::set_parent(nvinfer1::IPluginRegistry* parent) {
  const std::lock_guard lock(mutex_);
  parent_ = parent;
}

void Registry::set_logger(nvinfer1::ILogger* logger) {
  const std::lock_guard lock(mutex_);
  logger_ = logger;
}

void Registry::report(ErrorCode code, const char* call, const std::string& message) const noexcept {
  const std::string text = str("IPluginRegistry::", call, ": ", message);
  if (recorder_) recorder_->reportError(code, text.substr(0, nvinfer1::IErrorRecorder::kMAX_DESC_LENGTH).c_str());
  if (logger_) logger_->log(nvinfer1::ILogger::Severity::kERROR, text.c_str());
}

bool Registry::registerCreator(OldCreator& creator, AsciiChar const* plugin_namespace) noexcept {
  return registerCreator(static_cast<Creator&>(creator), plugin_namespace);
}

bool Registry::registerCreator(Creator& creator, AsciiChar const* plugin_namespace) noexcept {
  const std::lock_guard lock(mutex_);
  const auto id = identity_of(creator);
  if (!id) {
    report(ErrorCode::kINVALID_ARGUMENT, "registerCreator",
           str("a creator of kind '", creator.getInterfaceInfo().kind,
               "' without name or version, or of a kind that Kiln does not know"));
    return false;
  }
  const Key key{id->name, id->version, plugin_namespace ? plugin_namespace : ""};
  if (!creators_.try_emplace(key, &creator).second) {
    report(ErrorCode::kINVALID_ARGUMENT, "registerCreator",
           str("there is a creator of '", key.name, "' version '", key.version, "' in namespace '",
               key.plugin_namespace, "' already"));
    return false;
  }
  if (kind_of(creator) == CreatorKind::kV1)
    static_cast<OldCreator&>(creator).setPluginNamespace(key.plugin_namespace.c_str());
  list_all();
  return true;
}

void Registry::list_all() {
  all_.clear(), all_old_.clear();
  for (const auto& [key, creator] : creators_) {
    all_.push_back(creator);
    if (kind_of(*creator) == CreatorKind::kV1) all_old_.push_back(static_cast<OldCreator*>(creator));
  }
}

Registry::OldCreator* const* Registry::getPluginCreatorList(int32_t* count) const noexcept {
  const std::lock_guard lock(mutex_);
  if (count) *count = static_cast<int32_t>(all_old_.size());
  return all_old_.data();
}

Registry::Creator* const* Registry::getAllCreators(int32_t* count) const noexcept {
  const std::lock_guard lock(mutex_);
  if (count) *count = static_cast<int32_t>(all_.size());
  return all_.data();
}

Registry::Creator* const* Registry::getAllCreatorsRecursive(int32_t* count) noexcept {
  const std::lock_guard lock(mutex_);
  all_recursive_ = all_;
  if (parent_ && search_parent_) {
    int32_t above = 0;
    Creator* const* creators = parent_->getAllCreatorsRecursive(&above);
    all_recursive_.insert(all_recursive_.end(), creators, creators + above);
  }
  if (count) *count = static_cast<int32_t>(all_recursive_.size());
  return all_recursive_.data();
}

Registry::OldCreator* Registry::getPluginCreator(AsciiChar const* name, AsciiChar const* version,
                                                 AsciiChar const* plugin_namespace) noexcept {
  Creator* found = getCreator(name, version, plugin_namespace);
  return found && kind_of(*found) == CreatorKind::kV1 ? static_cast<OldCreator*>(found) : nullptr;
}

Registry::Creator* Registry::getCreator(AsciiChar const* name, AsciiChar const* version,
                                        AsciiChar const* plugin_namespace) noexcept {
  const std::lock_guard lock(mutex_);
  if (!name || !version) {
    report(ErrorCode::kINVALID_ARGUMENT, "getCreator", "the name or the version is null");
    return nullptr;
  }
  const auto found = creators_.find(Key{name, version, plugin_namespace ? plugin_namespace : ""});
  if (found != creators_.end()) return found->second;
  return parent_ && search_parent_ ? parent_->getCreator(name, version, plugin_namespace) : nullptr;
}

bool Registry::deregisterCreator(OldCreator const& creator) noexcept {
  return deregisterCreator(static_cast<Creator const&>(creator));
}

bool Registry::deregisterCreator(Creator const& creator) noexcept {
  const std::lock_guard lock(mutex_);
  const bool removed = std::erase_if(creators_, [&](const auto& entry) { return entry.second == &creator; }) > 0;
  if (removed) list_all();
  return removed;
}

void Registry::setErrorRecorder(nvinfer1::IErrorRecorder* recorder) noexcept {
  const std::lock_guard lock(mutex_);
  if (recorder) recorder->incRefCount();
  if (recorder_) recorder_->decRefCount();
  recorder_ = recorder;
}

nvinfer1::IErrorRecorder* Registry::getErrorRecorder() const noexcept {
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

Registry::PluginLibraryHandle Registry::loadLibrary(AsciiChar const* path) noexcept {
  const std::lock_guard lock(mutex_);
  report(ErrorCode::kUNSUPPORTED_STATE, "loadLibrary", str("not in Kiln yet, asked for '", path, "'"));
  return nullptr;
}

void Registry::deregisterLibrary(PluginLibraryHandle) noexcept {
  const std::lock_guard lock(mutex_);
  report(ErrorCode::kINVALID_ARGUMENT, "deregisterLibrary", "loadLibrary gave out no such handle");
}

nvinfer1::IPluginResource* Registry::acquirePluginResource(AsciiChar const* key,
                                                           nvinfer1::IPluginResource* resource) noexcept {
  const std::lock_guard lock(mutex_);
  if (!key || !resource) {
    report(ErrorCode::kINVALID_ARGUMENT, "acquirePluginResource", "the key or the resource is null");
    return nullptr;
  }
  auto found = resources_.find(std::string_view(key));
  if (found == resources_.end()) {
    nvinfer1::IPluginResource* clone = resource->clone();
    if (!clone) {
      report(ErrorCode::kUNSPECIFIED_ERROR, "acquirePluginResource", str("resource '", key, "' could not be cloned"));
      return nullptr;
    }
    found = resources_.emplace(key, Resource{clone, 0}).first;
  }
  ++found->second.users;
  return found->second.clone;
}

int32_t Registry::releasePluginResource(AsciiChar const* key) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = key ? resources_.find(std::string_view(key)) : resources_.end();
  if (found == resources_.end()) {
    report(ErrorCode::kINVALID_ARGUMENT, "releasePluginResource", str("there is no resource '", key, "'"));
    return -1;
  }
  if (--found->second.users > 0) return 0;
  nvinfer1::IPluginResource* last = found->second.clone;
  resources_.erase(found);
  return last->release() == 0 ? 0 : -1;
}

Registry& process_registry() {
  static Registry& registry = *new Registry;
  return registry;
}

}  // namespace kiln::plugin
