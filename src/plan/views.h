/// Tensors that are views of others.
#pragma once

#include "plan/plan.h"

namespace kiln::plan {

/// The tensor of a block whose memory tensor `id` lies in: itself, or what it is a view of by way of any others.
inline int root_of(const Block& block, int id) {
  while (block.tensors[static_cast<size_t>(id)].place == Place::kView)
    id = block.tensors[static_cast<size_t>(id)].index;
  return id;
}

}  // namespace kiln::plan
