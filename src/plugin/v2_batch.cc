#include "plugin/v2_batch.h"

#include <memory>

#include "api/base/convert.h"
#include "plugin/api_tensors.h"

namespace kiln::plugin {

namespace nv = nvinfer1;

namespace {

constexpr int64_t kMostBatch = INT32_MAX;  // what enqueue takes
constexpr std::string_view kBatched = "an IPluginV2, IPluginV2Ext or IPluginV2IOExt";

/// The extents of input `i`; fails where one is not known before a run.
Result<Extents> static_extents(const InferContext& cx, int i, const PluginIdentity& identity) {
  const TensorType& type = TRY(cx.input(i));
  Extents extents;
  for (const sym::Expr extent : type.shape) {
    TRY(require(extent.is_const(), identity, ": input ", i, " is ", type,
                "; only IPluginV2DynamicExt and IPluginV3 take dynamic shapes"));
    extents.push_back(extent.constant().value_or(-1));
  }
  return extents;
}

/// The batch of the inputs, whose other extents are appended to `rest`; 1 where there are none. An input of batch 1
/// beside longer ones is to be repeated.
Result<int64_t> batch_of_inputs(const InferContext& cx, const PluginIdentity& identity, std::vector<nv::Dims>& rest) {
  int64_t batch = 1;
  int first = 0;  // the input that has that batch
  for (int i = 0; i < cx.num_inputs(); ++i) {
    const Extents extents = TRY(static_extents(cx, i, identity));
    TRY(require(!extents.empty(), identity, ": input ", i, " is a scalar; ", kBatched, " takes tensors with a batch"));
    if (batch == 1 && extents[0] != 1) batch = extents[0], first = i;
    TRY(require(extents[0] == batch || extents[0] == 1, identity, ": input ", i, " has a batch of ", extents[0],
                " and input ", first, " of ", batch, "; they are the same, or 1, for ", kBatched));
    rest.push_back(api::to_api(std::span(extents).subspan(1)));
  }
  TRY(require(batch <= kMostBatch, identity, ": the batch is ", batch, "; at most ", kMostBatch, " is possible"));
  return batch;
}

Result<Shape> output_shape(const nv::Dims& dims, int64_t batch) {
  constexpr int32_t kMostAxes = nv::Dims::MAX_DIMS - 1;  // beside the batch
  TRY(require(dims.nbDims >= 0 && dims.nbDims <= kMostAxes, "it has ", dims.nbDims,
              " dimensions beside the batch; 0 to ", kMostAxes, " are possible"));
  Shape shape{batch};
  for (int32_t axis = 0; axis < dims.nbDims; ++axis) {
    TRY(require(dims.d[axis] >= 0, "dimension ", axis, " is ", dims.d[axis]));
    shape.push_back(dims.d[axis]);
  }
  return shape;
}

nv::Dims without_batch(const nv::Dims& dims) {
  nv::Dims result{dims.nbDims - 1, {}};
  for (int32_t axis = 0; axis < result.nbDims; ++axis) result.d[axis] = dims.d[axis + 1];
  return result;
}

}  // namespace

Result<int64_t> infer_batched(InferContext& cx, nv::IPluginV2& plugin,
                              const std::function<Result<std::vector<DType>>()>& types,
                              const PluginIdentity& identity) {
  std::vector<nv::Dims> inputs;
  const int64_t batch = TRY(batch_of_inputs(cx, identity, inputs));
  const std::vector<DType> output_types = TRY(types());
  for (int i = 0; i < cx.num_outputs(); ++i) {
    const nv::Dims dims = plugin.getOutputDimensions(i, inputs.data(), count_of(inputs));
    Shape shape = TRY(
        in_context(output_shape(dims, batch), [&] { return str(identity, ": getOutputDimensions of output ", i); }));
    TRY(in_context(cx.set_output(i, TensorType(output_types[static_cast<size_t>(i)], std::move(shape))),
                   [&] { return str(identity); }));
  }
  return batch;
}

Status refuse_shared_outputs(const nv::IPluginV2Ext& plugin, int num_inputs, int num_outputs, int64_t batch,
                             const PluginIdentity& identity) {
  if (batch == 1) return {};
  const auto none = std::make_unique<bool[]>(static_cast<size_t>(num_inputs));
  for (int i = 0; i < num_outputs; ++i)
    TRY(require(!plugin.isOutputBroadcastAcrossBatch(i, none.get(), num_inputs), identity,
                ": isOutputBroadcastAcrossBatch of output ", i, " returned true, for a batch of ", batch,
                "; only implicit batches, which TensorRT 10 does not have, share a sample"));
  return {};
}

Result<int32_t> batch_of(std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs) {
  const auto batch_in = [](const PluginTensor& tensor) { return tensor.extents.empty() ? -1 : tensor.extents[0]; };
  const int64_t batch = inputs.empty() ? 1 : batch_in(inputs[0]);
  if (batch < 0 || batch > kMostBatch) return error(Code::kCorrupt, "the first input tells no batch for ", kBatched);
  const auto compare = [&](std::span<const PluginTensor> tensors, std::string_view what) -> Status {
    for (size_t i = 0; i < tensors.size(); ++i)
      if (const int64_t other = batch_in(tensors[i]); other != batch)
        return error(Code::kCorrupt, what, " ", i, " has a batch of ", other, " and ",
                     inputs.empty() ? "a plugin without inputs" : "input 0", " of ", batch, "; all tensors of ",
                     kBatched, " have the same");
    return {};
  };
  TRY(compare(inputs, "input"));
  TRY(compare(outputs, "output"));
  return static_cast<int32_t>(batch);
}

std::vector<nv::Dims> dims_within_batch(std::span<const PluginTensor> tensors) {
  std::vector<nv::Dims> result;
  for (const PluginTensor& tensor : tensors) result.push_back(without_batch(api::to_api(tensor.extents)));
  return result;
}

std::vector<nv::PluginTensorDesc> descs_within_batch(std::span<const PluginTensor> tensors) {
  std::vector<nv::PluginTensorDesc> result = descs_of(tensors);
  for (nv::PluginTensorDesc& desc : result) desc.dims = without_batch(desc.dims);
  return result;
}

}  // namespace kiln::plugin
