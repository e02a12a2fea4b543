/// Loads shared objects whose initialisers may throw.
#pragma once

#include <dlfcn.h>

namespace kiln {

/// dlopen is declared to throw nothing, so that a compiler ends the program where an initialiser throws through it.
inline void* throwing_dlopen(const char* path, int mode) {
  using Dlopen = void*(const char*, int);
  static Dlopen* const volatile call = reinterpret_cast<Dlopen*>(&dlopen);
  return call(path, mode);
}

}  // namespace kiln
