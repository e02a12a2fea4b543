/// Whether a function pointer of ours and a function of NVIDIA's headers are called alike.
#pragma once

#include <type_traits>

namespace kiln::cuda {

/// Whether arguments of these types are passed alike.
template <class Ours, class Theirs>
constexpr bool kAlike = sizeof(Ours) == sizeof(Theirs) &&
                        std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>&& std::is_floating_point_v<Ours> ==
                            std::is_floating_point_v<Theirs>;
template <>
inline constexpr bool kAlike<void, void> = true;
template <class Ours, class Theirs>
constexpr bool kSameShape = false;
template <class R, class... A, class S, class... B>
constexpr bool kSameShape<R (*)(A...), S (*)(B...)> = [] {
  if constexpr (sizeof...(A) != sizeof...(B))
    return false;
  else
    return kAlike<R, S> && (kAlike<A, B> && ...);
}();

}  // namespace kiln::cuda
