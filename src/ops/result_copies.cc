#include "ops/result_copies.h"

#include <cstring>

namespace kiln::ops {

Status copy_results(ReferenceContext& cx, std::span<const HostTensor> results, std::span<const DecidedAxis> decided) {
  for (size_t k = 0; k < decided.size(); ++k) {
    const auto output = static_cast<size_t>(decided[k].output), axis = static_cast<size_t>(decided[k].axis);
    cx.set_size(k, results[output].extents()[axis]);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const MutableView target = TRY(cx.output(static_cast<int>(i), results[i].extents()));
    if (!results[i].bytes().empty()) std::memcpy(target.data(), results[i].bytes().data(), results[i].bytes().size());
  }
  return {};
}

Result<HostTensor> slice_at(const HostTensor& x, int64_t i) {
  HostTensor::Fresh slice = TRY(HostTensor::make(x.dtype(), Extents(x.extents().begin() + 1, x.extents().end())));
  const size_t bytes = slice.data.size();
  if (bytes > 0) std::memcpy(slice.data.data(), x.bytes().data() + static_cast<size_t>(i) * bytes, bytes);
  return std::move(slice.tensor);
}

Result<HostTensor> stack(std::span<const HostTensor> slices, const MutableView& like) {
  Extents extents{std::ssize(slices)};
  if (slices.empty())
    extents.insert(extents.end(), like.extents().begin() + 1, like.extents().end());
  else
    extents.insert(extents.end(), slices[0].extents().begin(), slices[0].extents().end());
  HostTensor::Fresh whole = TRY(HostTensor::make(like.dtype(), extents));
  std::byte* at = whole.data.data();
  for (const HostTensor& slice : slices) {
    TRY(require(slice.extents() == slices[0].extents(), "iterations give slices of extents ", slices[0].extents(),
                " and ", slice.extents(), ", which cannot be stacked"));
    if (!slice.bytes().empty()) std::memcpy(at, slice.bytes().data(), slice.bytes().size());
    at += slice.bytes().size();
  }
  return std::move(whole.tensor);
}

}  // namespace kiln::ops
