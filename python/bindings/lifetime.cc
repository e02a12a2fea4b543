#include "lifetime.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "callback.h"
#include "gil.h"

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

/// Python objects that objects of the API hold which Python does not own, by their addresses and slots.
std::map<std::pair<const void*, std::string>, nb::object>& unowned() {
  static auto& all = *new std::map<std::pair<const void*, std::string>, nb::object>;
  return all;
}

void end(void* payload) noexcept {
  const std::unique_ptr<Holder> holder(static_cast<Holder*>(payload));
  if (holder->destroy != nullptr) {
    const PythonUnlock unlocked;
    holder->destroy(holder->object);
  }
  // Erased only now: while the object ended, its address could not be another's.
  const auto found = holders().find(holder->object);
  if (found != holders().end() && found->second == holder.get()) holders().erase(found);
}

constexpr const char* kRecorder = "error_recorder";

/// The holder of an object of the API that Python owns; null for other Python objects.
const Holder* holder_of(nb::handle self) {
  if (!nb::inst_check(self) || !nb::inst_ready(self)) return nullptr;
  const auto found = holders().find(nb::inst_ptr<void>(self));
  return found == holders().end() ? nullptr : found->second;
}

/// Gives an object its maker's recorder, also for the time when the maker has another one.
void copy_recorder(const Holder& maker, Holder& made) {
  if (const auto found = maker.slots.find(kRecorder); found != maker.slots.end()) made.slots[kRecorder] = found->second;
}

void keep(nb::handle self, std::unique_ptr<Holder> holder) {
  holders()[holder->object] = holder.get();
  nb::keep_alive_cb(self, holder.release(), &end);
}

}  // namespace

int traverse_owner(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const auto found = holders().find(nb::inst_ptr<void>(self));
  if (found == holders().end()) return 0;
  // An object of a class that derives Builder refers to the one that owns, which is another one.
  if (found->second->self != self) {
    Py_VISIT(found->second->self);
    return 0;
  }
  for (const nb::object& need : found->second->needs) Py_VISIT(need.ptr());
  for (const auto& [slot, value] : found->second->slots) Py_VISIT(value.ptr());
  return 0;
}

PyType_Slot kOwnerSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_owner)}, {0, nullptr}};

void own(nb::handle self, void* object, void (*destroy)(void*), std::initializer_list<nb::handle> needs) {
  auto holder = std::make_unique<Holder>(
      Holder{.self = self.ptr(), .object = object, .destroy = destroy, .needs = {}, .slots = {}});
  for (const nb::handle need : needs) {
    holder->needs.push_back(nb::borrow(need));
    if (const Holder* maker = holder_of(need)) copy_recorder(*maker, *holder);
  }
  keep(self, std::move(holder));
}

void own_beside(nb::handle self, void* object, void (*destroy)(void*), nb::handle maker) {
  auto holder = std::make_unique<Holder>(
      Holder{.self = self.ptr(), .object = object, .destroy = destroy, .needs = {}, .slots = {}});
  if (const Holder* made_it = holder_of(maker)) {
    holder->needs = made_it->needs;
    copy_recorder(*made_it, *holder);
  }
  keep(self, std::move(holder));
}

void hold_recorder_for(const void* maker, const void* part) {
  const auto found = holders().find(maker);
  if (found == holders().end()) return;
  auto& slots = found->second->slots;
  if (const auto recorder = slots.find(kRecorder); recorder != slots.end())
    slots[std::string(kRecorder) + " of " + std::to_string(reinterpret_cast<uintptr_t>(part))] =
        nb::object(recorder->second);
}

void hold(const void* object, const std::string& slot, nb::object value) {
  const auto found = holders().find(object);
  nb::object& place = found == holders().end() ? unowned()[{object, slot}] : found->second->slots[slot];
  std::swap(place, value);
  CallScope::retire(std::move(value));  // it goes last, since that may run Python
}

}  // namespace kiln::python
