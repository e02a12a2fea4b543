/// The system's loader of shared objects, where initialisers may throw.
#pragma once

#include <functional>

#include "base/error.h"

namespace kiln::plugin {

/// An object that the loader has opened.
struct SharedObject {
  void* handle;
  bool is_new;  ///< whether it was not loaded before, so that its initialisers have run
};
/// dlopen with all symbols bound at once and none given to others. Fails with the loader's words, or those of the
/// exception that an initialiser threw; the object is unloaded then, and the loader can be used on. What its
/// initialisers did before is undone by `undo`, which gets a handle of its own and closes it.
Result<SharedObject> open_shared_object(const char* path, const std::function<void(void* handle)>& undo);

/// Runs code of a user's library. What it throws becomes an error: "`what` threw: no licence".
Status run_foreign(const char* what, const std::function<void()>& code);

}  // namespace kiln::plugin
