/// The library's plugins that exist now, by the address that programs and the builder know them by.
#pragma once

#include "library/standard_plugin.h"

namespace kiln::plugins {

/// Notes a plugin for as long as it lives. Safe from several threads.
class Known {
 public:
  Known(const void* address, const Plugin& plugin);
  ~Known();
  Known(const Known&) = delete;

 private:
  const void* address_;
};

/// What `Known` has at that address; null where it is none of ours. It lives as long as the object.
const Plugin* known_plugin(const void* address);

}  // namespace kiln::plugins
