/// The address behind a reference that a program may have made of a null pointer.
#pragma once

namespace kiln {

/// Keeps a test for null, which a compiler may drop from `&reference`.
template <class T>
T* address_of(T& reference) {
  T* address = &reference;
  __asm__("" : "+r"(address));
  return address;
}

}  // namespace kiln
