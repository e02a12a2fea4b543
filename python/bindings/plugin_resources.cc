#include "plugin_resources.h"

#include <memory>
#include <utility>

#include "bindings.h"
#include "callback.h"
#include "plugin_calls.h"
#include "plugins.h"

namespace kiln::python {
namespace {

namespace nv = nvinfer1;

class ResourceAdapter final : public nv::IPluginResource {
 public:
  explicit ResourceAdapter(nb::object resource) : side_(std::move(resource)) {
    adapters<nv::IPluginResource>().insert(this);
  }
  ~ResourceAdapter() override {
    const PythonLock lock;
    if (lock) adapters<nv::IPluginResource>().erase(this);
  }
  const nb::object& object() const { return side_.object(); }

  nv::APILanguage getAPILanguage() const noexcept override { return nv::APILanguage::kPYTHON; }
  int32_t release() noexcept override {
    return succeeds(side_, "release", [&] { return side_.attr("release")(); });
  }
  nv::IPluginResource* clone() noexcept override {
    return answer(side_, "clone", static_cast<nv::IPluginResource*>(nullptr), [&]() -> nv::IPluginResource* {
      nb::object copy = side_.attr("clone")();
      if (copy.is(side_.object())) return this;  // the registry says that it is no copy
      if (!is_plugin_class(copy, "IPluginResource")) wrong_result(copy, "an IPluginResource");
      return new ResourceAdapter(std::move(copy));
    });
  }

 private:
  const PythonSide side_;
};

/// `tensorrt.IPluginResourceContext`.
struct ResourceContext {
  nb::object allocator;
  nb::object recorder;
};

/// A resource that C++ implements, in the registry.
struct ResourceHandle {
  nv::IPluginResource* resource;
};

nv::IPluginResource* native_resource(nb::handle resource) {
  ResourceHandle* handle = nullptr;
  return nb::try_cast(nb::object(resource.attr("_native")), handle) && handle ? handle->resource : nullptr;
}

nb::object show(nv::IPluginResource* resource) {
  if (!resource) return nb::none();
  if (adapters<nv::IPluginResource>().contains(resource)) return static_cast<ResourceAdapter*>(resource)->object();
  return with_handle("IPluginResource", nb::cast(ResourceHandle{resource}));
}

}  // namespace

nb::object show_resource_context(nv::IPluginResourceContext* context) {
  if (!context) return nb::none();
  constexpr auto kShown = nb::rv_policy::reference;
  return nb::cast(ResourceContext{.allocator = nb::cast(context->getGpuAllocator(), kShown),
                                  .recorder = nb::cast(context->getErrorRecorder(), kShown)});
}

nb::object acquire_resource(nv::IPluginRegistry& registry, const char* key, nb::object resource) {
  if (!is_plugin_class(resource, "IPluginResource")) throw nb::type_error("resource is no IPluginResource");
  std::unique_ptr<nv::IPluginResource> adapter;
  nv::IPluginResource* given = native_resource(resource);
  if (!given) {
    adapter = std::make_unique<ResourceAdapter>(resource);
    given = adapter.get();
  }
  nv::IPluginResource* acquired = nullptr;
  without_gil(registry, [&] { acquired = registry.acquirePluginResource(key, given); });
  return show(acquired);
}

int32_t release_resource(nv::IPluginRegistry& registry, const char* key) {
  return without_gil(registry, [&] { return registry.releasePluginResource(key); });
}

void bind_plugin_resources(nb::module_& m) {
  nb::class_<ResourceHandle>(m, "_ResourceHandle");
  nb::class_<ResourceContext>(m, "IPluginResourceContext",
                              "What attach_to_context is told of its execution context, as of that time.")
      .def_prop_ro(
          "error_recorder", [](const ResourceContext& self) { return self.recorder; },
          nb::sig("def error_recorder(self) -> IErrorRecorder"),
          "IErrorRecorder: where errors of the context are recorded, or None.")
      .def_prop_ro(
          "gpu_allocator", [](const ResourceContext& self) { return self.allocator; },
          nb::sig("def gpu_allocator(self) -> IGpuAllocator"), "IGpuAllocator: for memory of the device, or None.");
}

}  // namespace kiln::python
