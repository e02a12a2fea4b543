// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include "lifetime.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kiln::python {
namespace {

/// An object of the API that Python owns, and the Python objects that it needs.
struct Holder {
  PyObject* self;
  void* object;
  void (*destroy)(void*);
  std::vector<nb::object> needs;
  std::unordered_map<std::string, nb::object> slots;
};

/// By the object's address. Read and written with the GIL.
std::unordered_map<const void*, Holder*>& holders() {
  static auto& all = *new std::unordered_map<const void*, Holder*>;  // Python may end after static objects are gone
  return all;
}

void end(void* payload) noexcept {
  const std::unique_ptr<Holder> holder(static_cast<Holder*>(payload));
  {
    const nb::gil_scoped_release release;
    holder->destroy(holder->object);
  }
  // Erased only now: while the object ended, its address could not be another's.
  const auto found = holders().find(holder->object);
  if (found != holders().end() && found->second == holder.get()) holders().erase(found);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const auto found = holders().find(nb::inst_ptr<void>(self));
  // An object of a class that derives Builder refers to the one that owns, which is another one.
  if (found == holders().end() || found->second->self != self) return 0;
  for (const nb::object& need : found->second->needs) Py_VISIT(need.ptr());
  for (const auto& [slot, value] : found->second->slots) Py_VISIT(value.ptr());
  return 0;
}

}  // namespace

PyType_Slot kOwnerSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse)}, {0, nullptr}};

void own(nb::handle self, void* object, void (*destroy)(void*), std::initializer_list<nb::handle> needs) {
  auto holder = std::make_unique<Holder>(
      Holder{.self = self.ptr(), .object = object, .destroy = destroy, .needs = {}, .slots = {}});
  for (const nb::handle need : needs) holder->needs.push_back(nb::borrow(need));
  holders()[object] = holder.get();
  nb::keep_alive_cb(self, holder.release(), &end);
}

void hold(const void* object, const std::string& slot, nb::object value) {
  const auto found = holders().find(object);
  Holder* holder = found == holders().end() ? nullptr : found->second;
  if (holder == nullptr) {
    if (value.is_valid()) value.release();  // for good
    return;
  }
  std::swap(holder->slots[slot], value);  // the former one goes last, since that may run Python
}

}  // namespace kiln::python
