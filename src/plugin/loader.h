/// The system's loader of shared objects, where initialisers may throw.
#pragma once

#include <functional>

#include "base/error.h"

namespace kiln::plugin {

/// dlopen with all symbols bound at once and none given to others. Fails with the loader's words, or those of the
/// exception that an initialiser threw; the object is unloaded then, and the loader can be used on.
Result<void*> open_shared_object(const char* path);

/// Runs code of a user's library. What it throws becomes an error: "`what` threw: no licence".
Status run_foreign(const char* what, const std::function<void()>& code);

}  // namespace kiln::plugin
