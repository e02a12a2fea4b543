#include "api/build/algorithms.h"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>

#include "api/base/convert.h"
#include "api/base/shown_type.h"
#include "api/run/tensor_format.h"
#include "sym/unbounded.h"

namespace kiln::api {
namespace {

namespace nv = nvinfer1;

/// The values that a region reads and writes, whatever their order in a tactic: inputs that are no constants, each
/// once, and the outputs of its root, behind what others see of the first node's.
struct Surroundings {
  std::vector<ir::ValueId> inputs, outputs;
};

/// No tactic may read an input of the nodes: the host knows the numbers of a shape.
Surroundings surroundings_of(const ir::Graph& graph, std::span<const Algorithm> shown) {
  const Region& region = shown.front().region;
  const auto is_read = [&](ir::ValueId value) {
    return std::ranges::any_of(shown, [&](const Algorithm& one) {
      return std::ranges::find(one.region.inputs, value) != one.region.inputs.end();
    });
  };
  Surroundings found;
  std::set<ir::ValueId> known;
  for (const ir::NodeId id : region.nodes)
    for (const ir::ValueId output : graph.node(id).outputs) known.insert(output);
  for (const ir::NodeId id : region.nodes)
    for (const ir::ValueId input : graph.node(id).inputs)
      if (input != ir::ValueId::kNone && !graph.constant(input) && known.insert(input).second && is_read(input))
        found.inputs.push_back(input);
  const ir::NodeId root = region.nodes.back();
  std::ranges::copy_if(region.outputs, std::back_inserter(found.outputs),
                       [&](ir::ValueId output) { return graph.value(output).producer != root; });
  found.outputs.insert(found.outputs.end(), graph.node(root).outputs.begin(), graph.node(root).outputs.end());
  return found;
}

/// The extents at an end of the profile; -1 for one without an end.
nv::Dims dims_of(const TensorType& type, int64_t (sym::Expr::*end)() const) {
  Extents extents;
  for (const sym::Expr& extent : type.shape) extents.push_back(sym::grows_without_bound(extent) ? -1 : (extent.*end)());
  return to_api(extents);
}

class Context final : public nv::IAlgorithmContext, public nv::apiv::VAlgorithmContext {
 public:
  Context(std::string name, const ir::Graph& graph, const Surroundings& around)
      : name_(std::move(name)), num_inputs_(around.inputs.size()) {
    mImpl = this;
    for (const auto* values : {&around.inputs, &around.outputs})
      for (const ir::ValueId value : *values) {
        const TensorType& type = graph.type(value);
        // In the order of OptProfileSelector.
        dims_.push_back(
            {dims_of(type, &sym::Expr::min), dims_of(type, &sym::Expr::opt), dims_of(type, &sym::Expr::max)});
      }
  }
  const char* getName() const noexcept override { return name_.c_str(); }
  nv::Dims getDimensions(int32_t index, nv::OptProfileSelector select) const noexcept override {
    const auto end = static_cast<int32_t>(select);
    if (index < 0 || static_cast<size_t>(index) >= dims_.size() || end < 0 || end > 2) return no_dims();
    return dims_[static_cast<size_t>(index)][static_cast<size_t>(end)];
  }
  int32_t getNbInputs() const noexcept override { return static_cast<int32_t>(num_inputs_); }
  int32_t getNbOutputs() const noexcept override { return static_cast<int32_t>(dims_.size() - num_inputs_); }

 private:
  std::string name_;
  size_t num_inputs_;
  std::vector<std::array<nv::Dims, 3>> dims_;
};

class IOInfo final : public nv::IAlgorithmIOInfo, public nv::apiv::VAlgorithmIOInfo {
 public:
  IOInfo(const TensorType& type, const Format& format)
      : dtype_(to_api(shown_type(type.dtype))),
        strides_(to_api(api_strides(format, type.opt_extents()))),
        vector_axis_(format.is_blocked() ? format.block_axis() : -1),
        vector_length_(format.block()) {
    mImpl = this;
  }
  nv::DataType getDataType() const noexcept override { return dtype_; }
  nv::Dims getStrides() const noexcept override { return strides_; }
  int64_t getVectorizedDim() const noexcept override { return vector_axis_; }
  int64_t getComponentsPerElement() const noexcept override { return vector_length_; }

 private:
  nv::DataType dtype_;
  nv::Dims strides_;
  int64_t vector_axis_, vector_length_;
};

class ShownVariant final : public nv::IAlgorithmVariant, public nv::apiv::VAlgorithmVariant {
 public:
  ShownVariant(int64_t implementation, int64_t tactic) : implementation_(implementation), tactic_(tactic) {
    mImpl = this;
  }
  int64_t getImplementation() const noexcept override { return implementation_; }
  int64_t getTactic() const noexcept override { return tactic_; }

 private:
  int64_t implementation_, tactic_;
};

/// The format that a tactic's variant reads or writes a value in; the linear one where it does not read it at all.
Format format_of(const std::vector<ir::ValueId>& values, const std::vector<Format>& formats, ir::ValueId value) {
  const auto found = std::ranges::find(values, value);
  return found == values.end() ? Format::linear() : formats[static_cast<size_t>(found - values.begin())];
}

class ShownAlgorithm final : public nv::IAlgorithm, public nv::apiv::VAlgorithm {
 public:
  ShownAlgorithm(const TacticContext& cx, const Surroundings& around, const Algorithm& shown)
      // The tactic's number is the one that editable timing caches have.
      : variant_(static_cast<int64_t>(hash128(shown.candidate.tactic->name()).low),
                 static_cast<int64_t>(timing_key(cx, shown.region, shown.candidate).low)),
        time_ms_(static_cast<float>(shown.time_us / 1000)),
        workspace_bytes_(static_cast<size_t>(shown.workspace_bytes)) {
    mImpl = this;
    const Variant& variant = shown.candidate.variant;
    for (const ir::ValueId value : around.inputs)
      tensors_.emplace_back(cx.graph.type(value), format_of(shown.region.inputs, variant.inputs, value));
    for (const ir::ValueId value : around.outputs)
      tensors_.emplace_back(cx.graph.type(value), format_of(shown.region.outputs, variant.outputs, value));
  }
  const nv::IAlgorithmVariant& getAlgorithmVariant() const noexcept override { return variant_; }
  float getTimingMSec() const noexcept override { return time_ms_; }
  size_t getWorkspaceSize() const noexcept override { return workspace_bytes_; }
  const nv::IAlgorithmIOInfo* getAlgorithmIOInfoByIndex(int32_t index) const noexcept override {
    return index >= 0 && static_cast<size_t>(index) < tensors_.size() ? &tensors_[static_cast<size_t>(index)] : nullptr;
  }

 private:
  ShownVariant variant_;
  float time_ms_;
  size_t workspace_bytes_;
  std::deque<IOInfo> tensors_;
};

}  // namespace

struct AlgorithmSelection::Layer {
  Layer(std::string name, const TacticContext& cx, std::span<const Algorithm> shown)
      : Layer(std::move(name), cx, shown, surroundings_of(cx.graph, shown)) {}
  Layer(std::string name, const TacticContext& cx, std::span<const Algorithm> shown, const Surroundings& around)
      : context(std::move(name), cx.graph, around) {
    for (const Algorithm& one : shown) algorithms.emplace_back(cx, around, one);
  }
  Context context;
  std::deque<ShownAlgorithm> algorithms;
  const ShownAlgorithm* chosen = nullptr;
};

AlgorithmSelection::AlgorithmSelection(nv::IAlgorithmSelector& selector, bool rejects_none)
    : selector_(selector), rejects_none_(rejects_none) {}
AlgorithmSelection::~AlgorithmSelection() = default;

/// Programs keep choices by name.
std::string AlgorithmSelection::unique_name(const std::string& name) {
  const std::string base = profile_ == 0 ? name : str(name, " [profile ", profile_, "]");
  std::string unique = base;
  for (int i = 2; !names_.insert(unique).second; ++i) unique = str(base, " (", i, ")");
  return unique;
}

Result<std::vector<size_t>> AlgorithmSelection::select(const TacticContext& cx, const std::string& name,
                                                       std::span<const Algorithm> algorithms) {
  const Layer& layer = *layers_.emplace_back(std::make_unique<Layer>(unique_name(name), cx, algorithms));
  std::vector<const nv::IAlgorithm*> choices;
  for (const ShownAlgorithm& algorithm : layer.algorithms) choices.push_back(&algorithm);
  const auto count = static_cast<int32_t>(choices.size());
  std::vector<int32_t> selection(choices.size(), -1);
  const int32_t answer = selector_.selectAlgorithms(layer.context, choices.data(), count, selection.data());
  const auto where = [&] { return str("layer '", layer.context.getName(), "': the algorithm selector "); };
  TRY(require(answer >= 0 && answer <= count, where(), "answered ", answer, "; it may choose 0 to ", count,
              " algorithms"));
  TRY(require(answer > 0 || !rejects_none_, where(), "chose none of ", count,
              " algorithms, and BuilderFlag::kREJECT_EMPTY_ALGORITHMS is set"));
  std::vector<size_t> chosen;
  for (const int32_t index : std::span(selection).first(static_cast<size_t>(answer))) {
    TRY(require(index >= 0 && index < count, where(), "chose algorithm ", index, ", which is outside [0, ", count,
                ")"));
    TRY(require(std::ranges::find(chosen, static_cast<size_t>(index)) == chosen.end(), where(), "chose algorithm ",
                index, " twice"));
    chosen.push_back(static_cast<size_t>(index));
  }
  return chosen;
}

void AlgorithmSelection::chose(std::span<const std::optional<size_t>> algorithms) {
  const size_t first = layers_.size() - algorithms.size();
  for (size_t i = 0; i < algorithms.size(); ++i) {
    Layer& layer = *layers_[first + i];
    if (algorithms[i]) layer.chosen = &layer.algorithms[*algorithms[i]];
  }
}

void AlgorithmSelection::end_profile() {
  std::vector<const nv::IAlgorithmContext*> contexts;
  std::vector<const nv::IAlgorithm*> choices;
  for (const auto& layer : layers_) {
    if (!layer->chosen) continue;
    contexts.push_back(&layer->context);
    choices.push_back(layer->chosen);
  }
  selector_.reportAlgorithms(contexts.data(), choices.data(), static_cast<int32_t>(choices.size()));
  layers_.clear();
  names_.clear();
  ++profile_;
}

}  // namespace kiln::api
