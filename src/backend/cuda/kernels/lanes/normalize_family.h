/// The ways to share groups of a normalisation among blocks: a row for each family of kernels.
#pragma once

#include <vector>

#include "backend/cuda/kernels/lanes/normalize.h"

namespace kiln::cuda {

struct GroupWork {
  const NormalizationLaunch& whole;  ///< what does not depend on how groups are shared
  const NormalizationShape& shape;
  int vec, element_bytes;
  const GroupRoom& room;
};

struct NormalizationFamily {
  bool takes_apart = false;  ///< vectors of channels that are groups of their own
  /// The launches, one or two; none where the family does not take such groups.
  std::vector<NormalizationLaunch> (*launches)(const GroupWork& work);
};
/// Large tensors of pixels, channels last, slice by slice: normalize_slices.cuh. Groups have no whole vectors, x is
/// larger than what stays in cache, and a slice of pixels that has whole groups and lines of memory, or halves of
/// lines, fits the registers of a cluster. All is aligned to 16 bytes.
extern const NormalizationFamily kNormalizeSlices;
/// Each channel by itself, channels last: normalize_apart.cuh. Slices of channels in the registers of clusters, else
/// whole pixels in two launches.
extern const NormalizationFamily kNormalizeApart;
/// Large groups in the registers and shared memory of clusters: normalize_held.cuh. x is larger than what stays in
/// cache, and a group, or a slice of pixels that has whole groups and whole lines of memory, fits a cluster.
extern const NormalizationFamily kNormalizeHeld;

}  // namespace kiln::cuda
