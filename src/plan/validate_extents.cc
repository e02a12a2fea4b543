#include <algorithm>

#include "plan/validate.h"

namespace kiln::plan {
namespace {

/// Bytes that a tensor's memory holds, padding of blocked formats included.
Result<int64_t> checked_bytes(DType dtype, const Format& format, Extents extents) {
  if (format.is_blocked()) {
    int64_t& blocked = extents[static_cast<size_t>(format.block_axis())];
    if (blocked > kMaxElements) return error(Code::kInvalidArgument, "extent ", blocked, " exceeds ", kMaxElements);
    blocked = (blocked + format.block() - 1) / format.block() * format.block();
  }
  const int64_t count = TRY(checked_volume(extents));
  // Strides of an empty tensor must not overflow either.
  for (int64_t& extent : extents) extent = std::max<int64_t>(extent, 1);
  const Result<int64_t> most = checked_volume(extents);
  if (!most || *most > kMaxElements)
    return error(Code::kInvalidArgument, "shape ", extents, " has more than ", kMaxElements, " elements");
  return size_bytes(dtype, count);
}

struct Validator {
  const Plan& plan;
  const Block& block;
  BlockSurface surface;
  std::span<const int64_t> symbols;
  std::span<const Extents> extents;

  Result<int64_t> output_bytes(const IoTensor& output) const;
  Result<int64_t> capacity(const Tensor& root) const;
  Status tensor(size_t t) const;
};

Result<int64_t> Validator::output_bytes(const IoTensor& output) const {
  Extents at;
  for (const sym::Program& extent : output.extents) at.push_back(TRY(extent.run(symbols)));
  return checked_bytes(output.dtype, output.format, std::move(at));
}

/// The bytes of memory that a tensor has at its place. The tensor is not a view.
Result<int64_t> Validator::capacity(const Tensor& root) const {
  const auto index = static_cast<size_t>(root.index);
  switch (root.place) {
    case Place::kArena: return root.size_bytes_max;
    case Place::kWeight: {  // not its bytes: an engine may have packed them and let them go
      const HostTensor& value = plan.weights[index].value;
      return size_bytes(value.dtype(), value.volume());
    }
    case Place::kInput:
      return checked_bytes(surface.inputs[index].dtype, surface.inputs[index].format, surface.input_extents[index]);
    case Place::kOutput: return output_bytes(surface.outputs[index]);
    case Place::kGrowing: return checked_bytes(root, symbols);  // memory is asked for as its extents say
    default: return 0;
  }
}

Status Validator::tensor(size_t t) const {
  const Tensor& tensor = block.tensors[t];
  if (tensor.place == Place::kAbsent) return {};
  // A weight's elements are in linear order, whatever format its reader packs them into.
  const bool is_weight = tensor.place == Place::kWeight;
  const int64_t bytes = TRY(checked_bytes(tensor.dtype, is_weight ? Format() : tensor.format, extents[t]));
  int64_t offset = 0;
  const Tensor* root = &tensor;
  for (; root->place == Place::kView; root = &block.tensors[static_cast<size_t>(root->index)])
    if (__builtin_add_overflow(offset, TRY(root->offset.run(symbols)), &offset))
      return error(Code::kInvalidArgument, "its offset exceeds 64 bits");
  const int64_t whole = TRY(capacity(*root));
  return require(offset >= 0 && offset <= whole && bytes <= whole - offset, "shape ", extents[t], " takes ", bytes,
                 " bytes at offset ", offset, "; its place, ", name_of(root->place), ", has ", whole);
}

}  // namespace

Result<int64_t> checked_bytes(const Tensor& tensor, std::span<const int64_t> symbols) {
  Extents extents;
  for (const sym::Program& extent : tensor.extents) extents.push_back(TRY(extent.run(symbols)));
  return checked_bytes(tensor.dtype, tensor.format, std::move(extents));
}

Status validate_extents(const Plan& plan, const Block& block, const BlockSurface& surface,
                        std::span<const int64_t> symbols, std::span<const Extents> extents,
                        const std::vector<bool>* only) {
  const Validator validator{plan, block, surface, symbols, extents};
  for (size_t t = 0; t < block.tensors.size(); ++t)
    if (!only || (*only)[t])
      TRY(in_context(validator.tensor(t), [&] { return str("tensor '", block.tensors[t].name, "'"); }));
  if (only) return {};
  for (const IoTensor& output : surface.outputs)
    TRY(in_context(validator.output_bytes(output), [&] { return str("output '", output.name, "'"); }));
  return {};
}

}  // namespace kiln::plan
