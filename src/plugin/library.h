/// A shared object that brings creators of plugins.
#pragma once

#include <NvInferRuntime.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"

namespace kiln::plugin {

/// Keeps a shared object loaded. Where the process's registry has creators that it registered by itself, or resources
/// of its classes, it stays loaded for good.
class Library {
 public:
  using Creator = nvinfer1::IPluginCreatorInterface;

  /// Loads the file, which runs its initialisers. Fails with kNotFound if there is none, with kCorrupt if it is no
  /// library or a damaged one, and with kState if an initialiser throws; then nothing of it stays loaded or
  /// registered.
  static Result<Library> open(const char* path);
  Library(Library&& other) noexcept;
  Library& operator=(Library&&) = delete;
  ~Library();

  /// Gives the library its means to find a logger, if it wants one, and asks it for its creators: getCreators, else
  /// the older getPluginCreators. At least one, none null.
  Result<std::vector<Creator*>> creators() const;

  const std::string& path() const { return path_; }  ///< real path of the file
  /// Undoes what the library did to the process's registries while this object loaded it, where nobody had loaded it
  /// before: creators that its initialisers or its entry points registered by themselves are deregistered.
  void take_back() const;
  bool same_file(const Library& other) const { return handle_ == other.handle_; }
  /// Whether an address lies in the library's code or data.
  bool contains(const void* address) const;

 private:
  Library(void* handle, const char* path, bool is_new);
  template <class Function>
  Function* entry(const char* name) const;

  void* handle_;  ///< the loader's, one for each file whatever the paths to it
  std::string path_;
  bool is_new_;                    ///< whether it was not loaded before
  uintptr_t begin_ = 0, end_ = 0;  ///< where it is mapped
};

/// The address of an object's table of virtual functions, which lies in the library of the object's class. `object` is
/// of a class with virtual functions.
const void* code_of(const void* object);
/// Keeps the library of `object`'s class loaded as long as the result is held. Null where the program itself has that
/// class.
std::shared_ptr<const void> keep_code_of(const void* object);

}  // namespace kiln::plugin
