// How objects of the API live in Python. An object that the program owns in C++ is deleted when its Python object goes,
// without the GIL, since it may wait for threads that call Python. It holds the Python objects that it needs, and what
// is set on it, until then.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "bindings.h"

namespace kiln::python {

/// The object of the API behind a Python object of its class. Throws TypeError where the class of a program that
/// derives T did not call T.__init__.
template <class T>
T& as(nb::handle_t<T> self) {
  T* object = nullptr;
  // Asked first: nanobind warns where it is to take an object that is not initialized.
  if (!nb::inst_ready(self) || !nb::try_cast(self, object, /*convert=*/false) || object == nullptr)
    throw nb::type_error("the object is not initialized: its class has to call __init__ of the class that it derives");
  return *object;
}

/// The work of `give`: `object` is what `destroy` deletes when `self` goes, unless that is null; after that `needs` are
/// given free. It holds the error recorders that `needs` have now.
void own(nb::handle self, void* object, void (*destroy)(void*), std::initializer_list<nb::handle> needs);
/// The work of `give_beside`.
void own_beside(nb::handle self, void* object, void (*destroy)(void*), nb::handle maker);

/// Holds the error recorder that `maker` has now, for a part of its own that reports to it, as long as `maker` lives.
void hold_recorder_for(const void* maker, const void* part);

/// Holds a Python object for as long as `object` of the API lives, or until another one takes its slot. For an object
/// that Python does not own, as a registry is, only the latter ends it.
void hold(const void* object, const std::string& slot, nb::object value);

/// Holds the Python object of something that the program implements and sets on an object of the API.
template <class Item>
void hold_item(const void* object, const char* slot, Item* item) {
  hold(object, slot, item == nullptr ? nb::none() : nb::find(item));
}
/// Holds an object as hold_item does, and the one that was there before as well: engines that were made meanwhile use
/// it.
template <class Item>
void hold_item_too(const void* object, const char* slot, Item* item) {
  if (item != nullptr) hold(object, slot + std::to_string(reinterpret_cast<uintptr_t>(item)), nb::find(item));
}

/// A Python object of a class, as signatures are to say it. It may be None where the API answers null.
template <class T>
using Given = nb::typed<nb::object, T>;

/// Hands an object that the library made to Python, which deletes it. It holds `needs`, and its error recorder. None
/// for null.
template <class T>
Given<T> give(T* object, std::initializer_list<nb::handle> needs) {
  if (object == nullptr) return nb::none();
  nb::object self = nb::cast(object, nb::rv_policy::reference);
  own(
      self, object, [](void* it) { delete static_cast<T*>(it); }, needs);
  // An object has the recorder that its maker had, and not only as long as the maker has it.
  if constexpr (requires { object->getErrorRecorder(); })
    hold_item(object, "error_recorder", object->getErrorRecorder());
  return self;
}

/// Hands over an object as give does, but one that needs what its maker needs, and not the maker itself: it may be set
/// on the maker, which then holds it.
template <class T>
Given<T> give_beside(T* object, nb::handle maker) {
  if (object == nullptr) return nb::none();
  nb::object self = nb::cast(object, nb::rv_policy::reference);
  own_beside(
      self, object, [](void* it) { delete static_cast<T*>(it); }, maker);
  return self;
}

/// Hands over an object as give does, for constructors: null raises RuntimeError with the text.
template <class T>
Given<T> give_new(T* object, std::initializer_list<nb::handle> needs, const char* error) {
  if (object == nullptr) throw std::runtime_error(error);
  return give(object, needs);
}

/// Shows Python's garbage collector what an object of `give` holds, as tp_traverse does.
int traverse_owner(PyObject* self, visitproc visit, void* arg);

/// The slots of a class whose objects `give` makes: Python's garbage collector sees what they hold, so that a program's
/// profiler may refer to the context that it is set on. There is nothing to clear: each cycle leads through an object
/// of the program's, which Python clears.
extern PyType_Slot kOwnerSlots[];

/// `__del__` is there because programs for TensorRT call it; an object goes when nothing refers to it any more. Python
/// calls it, too, also for an object whose constructor failed, which has no T.
template <class T>
void ignore_del(nb::handle_t<T>) {}
constexpr const char* kIgnoreDel = "Does nothing: the object goes when nothing refers to it any more.";

/// The annotation of a property's setter that takes None, too, which stands for C++'s null.
inline auto set_or_none() { return nb::for_setter(nb::arg("value").none()); }

}  // namespace kiln::python
