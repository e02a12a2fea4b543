#include "api/run/runtime.h"

#include "api/run/engine.h"
#include "api/run/plan_bytes.h"

namespace kiln::api {

using nvinfer1::ICudaEngine;
using nvinfer1::TempfileControlFlag;

namespace {
constexpr const char* kDeserialize = "IRuntime::deserializeCudaEngine";
constexpr ICudaEngine* kNoEngine = nullptr;
}  // namespace

/// The libraries of a plan, loaded; null if it has none.
Result<std::shared_ptr<const plugin::PlanLibraries>> Runtime::libraries_of(const plan::Plan& plan) const {
  if (plan.plugin_libraries.empty()) return nullptr;
  if (!host_code_allowed_)
    return error(Code::kState, "the plan holds plugin libraries ('", plan.plugin_libraries[0].name,
                 plan.plugin_libraries.size() > 1 ? "', ..." : "'",
                 "), whose code would run in this process: if you trust the plan, call "
                 "IRuntime::setEngineHostCodeAllowed(true) first (trtexec --versionCompatible)");
  const auto allows = [&](TempfileControlFlag flag) { return (tempfile_flags_ >> static_cast<int>(flag) & 1) != 0; };
  return plugin::PlanLibraries::load(plan.plugin_libraries,
                                     {.in_memory = allows(TempfileControlFlag::kALLOW_IN_MEMORY_FILES),
                                      .on_disk = allows(TempfileControlFlag::kALLOW_TEMPORARY_FILES),
                                      .directory = temporary_directory_});
}

Result<ICudaEngine*> Runtime::load(Result<std::shared_ptr<const plan::Plan>> read) {
  std::shared_ptr<const plan::Plan> plan = TRY(std::move(read));
  auto libraries = TRY(libraries_of(*plan));
  return make_engine(std::move(plan), {plugins_, std::move(libraries)}, reporter_, allocator_);
}

ICudaEngine* Runtime::deserializeCudaEngine(void const* blob, size_t size) noexcept {
  return guard(reporter_, kDeserialize, kNoEngine, [&]() -> Result<ICudaEngine*> {
    TRY(require(blob, "blob is null"));
    return load(read_plan_bytes(std::span(static_cast<const std::byte*>(blob), size)));
  });
}

ICudaEngine* Runtime::deserializeCudaEngine(nvinfer1::IStreamReader& reader) noexcept {
  return guard(reporter_, kDeserialize, kNoEngine, [&] { return load(read_plan_stream(reader)); });
}

ICudaEngine* Runtime::deserializeCudaEngineV2(nvinfer1::IStreamReaderV2& reader) noexcept {
  return guard(reporter_, kDeserialize, kNoEngine, [&] { return load(read_plan_stream(reader)); });
}

void Runtime::setDLACore(int32_t core) noexcept {
  guard(reporter_, "IRuntime::setDLACore", [&] {
    if (core >= 0) reporter_.log().warning("there are no DLA cores; the choice of core ", core, " is ignored");
  });
}

bool Runtime::setMaxThreads(int32_t threads) noexcept {
  return guard(reporter_, "IRuntime::setMaxThreads", [&]() -> Status {
    TRY(require(threads >= 1, "maxThreads is ", threads, "; at least 1 needed"));
    max_threads_ = threads;
    return {};
  });
}

void Runtime::setTemporaryDirectory(char const* path) noexcept {
  guard(reporter_, "IRuntime::setTemporaryDirectory", [&] { temporary_directory_ = path ? path : ""; });
}

char const* Runtime::getTemporaryDirectory() const noexcept {
  return temporary_directory_.empty() ? nullptr : temporary_directory_.c_str();
}

nvinfer1::IRuntime* Runtime::loadRuntime(char const*) noexcept {
  return missing(reporter_, "IRuntime::loadRuntime", static_cast<nvinfer1::IRuntime*>(nullptr));
}

}  // namespace kiln::api
