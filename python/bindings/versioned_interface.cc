// IVersionedInterface and InterfaceInfo: the kind and the version of an interface that programs implement.

#include <NvInfer.h>

#include <set>
#include <string>

#include "bindings.h"

namespace kiln::python {
namespace {

using nvinfer1::InterfaceInfo, nvinfer1::IVersionedInterface;

/// A text that stays: an InterfaceInfo does not own its kind.
const char* kept(const std::string& text) {
  static std::set<std::string> texts;
  return texts.insert(text).first->c_str();
}

}  // namespace

void bind_versioned_interface(nb::module_& m) {
  nb::class_<InterfaceInfo>(m, "InterfaceInfo", "The kind of an interface and its version.")
      .def_prop_rw(
          "kind", [](const InterfaceInfo& self) { return self.kind; },
          [](InterfaceInfo& self, const char* kind) { self.kind = kept(kind); }, "The name of the kind.")
      .def_rw("major", &InterfaceInfo::major, "The major version.")
      .def_rw("minor", &InterfaceInfo::minor, "The minor version.");
  nb::class_<IVersionedInterface>(m, "IVersionedInterface", nb::is_weak_referenceable(),
                                  "The base of what programs implement for the library.")
      .def_prop_ro("api_language", &IVersionedInterface::getAPILanguage, "The language that implements it.")
      .def_prop_ro("interface_info", &IVersionedInterface::getInterfaceInfo, "Its kind and version.");
}

}  // namespace kiln::python
