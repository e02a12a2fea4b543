/// One-dimensional walks through a dense row-major tensor, for references.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/extents.h"

namespace kiln {

/// Linear indices of the elements that differ only in one axis.
struct Lane {
  int64_t first, stride, length;
  struct Iterator {
    int64_t at, stride;
    int64_t operator*() const { return at; }
    Iterator& operator++() { return at += stride, *this; }
    bool operator==(const Iterator& other) const { return at == other.at; }
  };
  Iterator begin() const { return {first, stride}; }
  Iterator end() const { return {first + stride * length, stride}; }
};

/// Every lane along `axis`, in row-major order of the other axes. None if any extent is 0.
std::vector<Lane> lanes(std::span<const int64_t> extents, int axis);

}  // namespace kiln
