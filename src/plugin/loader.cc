#include "plugin/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <exception>

#include "base/throwing_dlopen.h"

namespace kiln::plugin {
namespace {

constexpr int kMode = RTLD_NOW | RTLD_LOCAL;

bool is_locked_here(const pthread_mutex_t& mutex) {
  const auto& state = mutex.__data;
  return state.__lock != 0 && state.__owner == gettid() && state.__count > 0 &&
         state.__kind == PTHREAD_MUTEX_RECURSIVE_NP;
}

/// An exception that leaves dlopen leaves glibc's loader locked by this thread: every other thread that loads anything
/// would wait for ever. The lock is in the loader's data, under no name that programs may use: it is the one recursive
/// mutex there that this thread holds. Where there is none, as with another C library, nothing is to be unlocked.
void unlock_loader() {
  auto* data = static_cast<char*>(dlsym(RTLD_DEFAULT, "_rtld_global"));
  Dl_info where{};
  ElfW(Sym)* symbol = nullptr;
  if (!data || !dladdr1(data, &where, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) || !symbol) return;
  for (size_t at = 0; at + sizeof(pthread_mutex_t) <= symbol->st_size; at += alignof(pthread_mutex_t)) {
    auto* mutex = reinterpret_cast<pthread_mutex_t*>(data + at);
    if (is_locked_here(*mutex)) return static_cast<void>(pthread_mutex_unlock(mutex));
  }
}

/// Unloads an object whose initialiser threw. The loader counts it as opened once, although it gave out no handle.
void unload_half_loaded(const char* path, const std::function<void(void* handle)>& undo) {
  void* handle = dlopen(path, kMode | RTLD_NOLOAD);
  if (!handle) return;
  undo(handle);
  dlclose(handle);
}

}  // namespace

Status run_foreign(const char* what, const std::function<void()>& code) {
  try {
    code();
    return {};
  } catch (const std::exception& thrown) {
    return error(Code::kState, what, " threw: ", thrown.what());
  } catch (...) {
    return error(Code::kState, what, " threw an exception that is no std::exception");
  }
}

Result<SharedObject> open_shared_object(const char* path, const std::function<void(void* handle)>& undo) {
  void* loaded = dlopen(path, kMode | RTLD_NOLOAD);
  if (loaded) dlclose(loaded);  // its initialisers have run, so that the call below only counts
  void* handle = nullptr;
  const Status opened = run_foreign("its initialiser", [&] { handle = throwing_dlopen(path, kMode); });
  if (!opened) {
    unlock_loader();
    unload_half_loaded(path, undo);
    return std::unexpected(opened.error());
  }
  if (handle) return SharedObject{handle, !loaded};
  const char* words = dlerror();
  return error(Code::kCorrupt, words ? words : "the loader does not say why");
}

}  // namespace kiln::plugin
