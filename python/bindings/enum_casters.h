// Conversions of enums take a member of the very enum alone, as TensorRT's module does: nanobind's own would take any
// integer that is a value of the enum, members of other enums included.

#pragma once

#include <NvInfer.h>
#include <NvOnnxParser.h>
#include <impl/NvInferPythonPlugin.h>
#include <nanobind/nanobind.h>

#include <type_traits>

namespace nanobind::detail {

/// Nanobind's conversion of enums, without those that change the value's type. It is nanobind's specialization with
/// a constraint, so that it is preferred.
template <class T>
requires std::is_enum_v<T>
struct type_caster<T, enable_if_t<std::is_enum_v<T>>> {
  bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) noexcept {
    (void)cleanup;
    int64_t result = 0;
    const uint32_t exact = flags & ~static_cast<uint32_t>(cast_flags::convert);
    if (!NB_CALL(enum_from_python)(NB_CTX_C(cleanup), &typeid(T), src.ptr(), &result, exact)) return false;
    value = static_cast<T>(result);
    return true;
  }
  static handle from_cpp(T src, rv_policy, cleanup_list* cleanup) noexcept {
    (void)cleanup;
    return NB_CALL(enum_from_cpp)(NB_CTX_C(cleanup), &typeid(T), static_cast<int64_t>(src));
  }
  NB_TYPE_CASTER(T, const_name<T>())
};

}  // namespace nanobind::detail
