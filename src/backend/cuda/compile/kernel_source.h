/// A kernel before it is compiled, and the text that was embedded when Kiln was built.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/record.h"
#include "base/str.h"

namespace kiln::cuda {

struct KernelSource {
  std::string_view file;  ///< "gemm/gemm.cu" below kernels/: an embedded file; empty: the prelude is all
  std::string prelude;    ///< generated text that stands before the file's; may be empty
  std::string entry;      ///< the extern "C" name of the kernel
  bool quick = false;     ///< quotients and functions of floats only as exact as halves need them
  /// What the file is compiled for: {Element=f16, bm=128, causal=true}. Types by the names that the text has for them;
  /// numbers by those of a kernel's parameters (GemmKernel, ConvIm2col, ...), whose `reflect` gives them: add_choices.
  Record choices = {};
  std::string end = {};  ///< generated text that stands behind the file's; may be empty
};

/// Adds the numbers of a kernel's parameters, those of structs within them too, but for fields that its text does not
/// read: kernels that differ only in these are one.
void add_choices(KernelSource& source, const Record& parameters, std::span<const std::string_view> unread = {});

/// Text of a kernel that makes one call, in namespace kiln. `bounds` are a block's threads and, behind a comma, the
/// least blocks of a multiprocessor.
std::string entry_text(std::string_view entry, std::string_view bounds, std::string_view parameters,
                       std::string_view call);
/// A parameter `args`, of a struct of namespace kiln.
std::string struct_parameter(std::string_view type);

/// Whether a source that may have several kernels is to have this one: it is among those that are wanted, or all are.
inline bool is_wanted(std::span<const std::string> wanted, std::string_view entry) {
  return wanted.empty() || std::ranges::find(wanted, entry) != wanted.end();
}

/// Text of an embedded file: kernels/**/*.{cu,cuh}, kernels/*/arguments.h and everything of kernels/include by their
/// path below kernels/, ops/*-inl.h and ops/scalar.h as "ops/...". Empty if there is none.
std::string_view embedded_source(std::string_view file);

/// The input of NVRTC.
struct KernelText {
  /// The prelude; types of `choices` by their names, and its numbers as fields of a constant `kTile`; the file; the
  /// end.
  std::string main;
  std::vector<std::pair<std::string, std::string_view>> headers;  ///< by the name they are included under, in order
};

/// Follows the includes of a kernel, all of them, under whatever condition they stand. `#include "name"` and <name> are
/// the embedded file include/name where there is one (our stand-in for a host's header), else the file `name`: a path
/// below kernels/ or, of headers that the host includes too, below src/, or ops/... Fails with kNotFound for another.
Result<KernelText> text_of(const KernelSource& source);

}  // namespace kiln::cuda
