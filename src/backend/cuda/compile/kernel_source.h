/// A kernel before it is compiled, and the text that was embedded when Kiln was built.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/str.h"

namespace kiln::cuda {

struct KernelSource {
  std::string_view file;             ///< "gemm/gemm.cu" below kernels/: an embedded file; empty: the prelude is all
  std::string prelude;               ///< generated text that stands before the file's; may be empty
  std::vector<std::string> defines;  ///< "BM=128"
  std::string entry;                 ///< the extern "C" name of the kernel
  bool quick = false;                ///< quotients and functions of floats only as exact as halves need them
};

inline void define(KernelSource& source, std::string_view name, const auto& value) {
  source.defines.push_back(str(name, "=", value));
}

/// Whether a source that may have several kernels is to have this one: it is among those that are wanted, or all are.
inline bool is_wanted(std::span<const std::string> wanted, std::string_view entry) {
  return wanted.empty() || std::ranges::find(wanted, entry) != wanted.end();
}

/// Text of an embedded file: kernels/**/*.{cu,cuh}, kernels/*/arguments.h and everything of kernels/include by their
/// path below kernels/, ops/*-inl.h and ops/scalar.h as "ops/...". Empty if there is none.
std::string_view embedded_source(std::string_view file);

/// The input of NVRTC.
struct KernelText {
  std::string main;                                               ///< prelude and file
  std::vector<std::pair<std::string, std::string_view>> headers;  ///< by the name they are included under, in order
};

/// Follows the includes of a kernel, all of them, under whatever condition they stand. `#include "name"` and <name> are
/// the embedded file include/name where there is one (our stand-in for a host's header), else the file `name`: a path
/// below kernels/ or, of headers that the host includes too, below src/, or ops/... Fails with kNotFound for another.
Result<KernelText> text_of(const KernelSource& source);

}  // namespace kiln::cuda
