#include "backend/cuda/exec/cudnn_convolution.h"

#include <algorithm>
#include <array>
#include <optional>

#include "tensor/format.h"

namespace kiln::cuda {
namespace {

Result<int> cudnn_data_type(DType type) {
  switch (type) {
    case DType::kF32: return kCudnnF32;
    case DType::kF16: return kCudnnF16;
    case DType::kBF16: return kCudnnBF16;
    default: return error(Code::kUnsupported, "cuDNN is not asked for convolutions of ", type);
  }
}

/// Whether an engine with this note computes as exactly as `spec` wants, and the same in each run.
bool allows(const CudnnConvolutionSpec& spec, int note) {
  switch (note) {
    case kCudnnNondeterministic:
    case kCudnnReducedReduction:
    case kCudnnDownConverts:
    case kCudnnFft:
    case kCudnnWinograd:
    case kCudnnWinograd4:
    case kCudnnWinograd6:
    case kCudnnWinograd13: return false;
    case kCudnnTensorCore: return spec.types.a != DType::kF32 || spec.tf32;
    default: return true;
  }
}

template <class Note>
Result<bool> has_note(const CudnnObject& engine, CudnnAttribute attribute, CudnnType type, Note is) {
  std::array<int, 32> notes{};
  const int64_t count = TRY(engine.get(attribute, type, std::ssize(notes), notes.data()));
  return std::any_of(notes.begin(), notes.begin() + std::clamp<int64_t>(count, 0, std::ssize(notes)), is);
}

/// An engine's configuration as numbers; nothing if `spec` does not allow it.
Result<std::optional<CudnnChoice>> choice_of(const Cudnn& library, const CudnnObject& config,
                                             const CudnnConvolutionSpec& spec) {
  CudnnChoice choice;
  const CudnnObject engine = TRY(CudnnObject::make(library, kCudnnEngine));
  void* handle = engine.handle();
  TRY(config.get(kConfigEngine, kCudnnDescriptor, 1, &handle));
  TRY(engine.get(kEngineIndex, kCudnnInt64, 1, &choice.engine));
  if (TRY(has_note(engine, kEngineNumericalNotes, kCudnnTypeOfNumericalNote,
                   [&](int note) { return !allows(spec, note); })))
    return std::nullopt;
  choice.compiles = TRY(has_note(engine, kEngineBehaviorNotes, kCudnnTypeOfBehaviorNote,
                                 [](int note) { return note == kCudnnCompilesAtRunTime; }));
  constexpr int kMostKnobs = 64;
  std::vector<CudnnObject> knobs;
  std::vector<void*> handles;
  for (int i = 0; i < kMostKnobs; ++i) {
    knobs.push_back(TRY(CudnnObject::make(library, kCudnnKnobChoice)));
    handles.push_back(knobs.back().handle());
  }
  const int64_t count = TRY(config.get(kConfigKnobs, kCudnnDescriptor, kMostKnobs, handles.data()));
  for (int64_t i = 0; i < std::min<int64_t>(count, kMostKnobs); ++i) {
    int type = 0;
    int64_t value = 0;
    TRY(knobs[static_cast<size_t>(i)].get(kKnobType, kCudnnTypeOfKnob, 1, &type));
    TRY(knobs[static_cast<size_t>(i)].get(kKnobValue, kCudnnInt64, 1, &value));
    choice.knobs.push_back(type);
    choice.values.push_back(value);
  }
  return choice;
}

}  // namespace

std::string CudnnChoice::name() const {
  std::string text = str("engine ", engine);
  for (size_t i = 0; i < knobs.size(); ++i) text += str(i == 0 ? ", knobs " : " ", knobs[i], "=", values[i]);
  return compiles ? text + ", compiled" : text;
}

Status CudnnChoice::check() const {
  return require(knobs.size() == values.size(), "an engine of cuDNN has ", knobs.size(), " knobs and ", values.size(),
                 " values");
}

/// Makes the objects of a graph in the order in which they refer to each other.
class CudnnGraphMaker {
 public:
  CudnnGraphMaker(const CudnnTarget& target, const CudnnConvolutionSpec& spec) : target_(target), spec_(spec) {}

  Result<CudnnGraph> run() {
    const int pointwise = (spec_.residual ? 1 : 0) + (spec_.bias ? 1 : 0) + (spec_.relu ? 1 : 0);
    CudnnGraph& g = made_;
    g.parts_.reserve(16);
    const size_t x = TRY(tensor(kCudnnX, spec_.types.a, spec_.x)), w = TRY(tensor(kCudnnW, spec_.types.b, spec_.w));
    left_ = pointwise;
    size_t y = TRY(result());
    TRY(convolve(x, w, y));
    // A residual before a bias: the order that fused engines know.
    if (spec_.residual) y = TRY(apply(kCudnnAdd, y, TRY(tensor(kCudnnResidual, spec_.types.out, spec_.y))));
    Extents channels(spec_.y.size(), 1);
    channels[1] = spec_.y[1];
    if (spec_.bias) y = TRY(apply(kCudnnAdd, y, TRY(tensor(kCudnnBias, spec_.types.out, channels))));
    if (spec_.relu) y = TRY(apply(kCudnnRelu, y, kNone));
    CudnnObject graph = TRY(CudnnObject::make(target_.library, kCudnnOperationGraph));
    if (target_.context) TRY(graph.set(kGraphHandle, kCudnnHandle, target_.context));
    TRY(graph.set(kGraphOperations, kCudnnDescriptor, std::ssize(operations_), operations_.data()));
    TRY(graph.finalize());
    g.parts_.push_back(std::move(graph));
    return std::move(g);
  }

 private:
  static constexpr size_t kNone = ~size_t{0};

  CudnnObject& at(size_t i) { return made_.parts_[i]; }
  size_t keep(CudnnObject object) {
    made_.parts_.push_back(std::move(object));
    return made_.parts_.size() - 1;
  }

  Result<size_t> tensor(int64_t id, DType type, const Extents& extents, bool is_virtual = false) {
    CudnnObject t = TRY(CudnnObject::make(target_.library, kCudnnTensor));
    const Extents strides = Format::channels_last(static_cast<int>(extents.size())).strides(extents);
    constexpr int64_t kAlignment = 16;
    const int data = TRY(cudnn_data_type(type));
    TRY(t.set(kTensorType, kCudnnTypeOfData, data));
    TRY(t.set(kTensorExtents, kCudnnInt64, std::ssize(extents), extents.data()));
    TRY(t.set(kTensorStrides, kCudnnInt64, std::ssize(strides), strides.data()));
    TRY(t.set(kTensorId, kCudnnInt64, id));
    TRY(t.set(kTensorAlignment, kCudnnInt64, kAlignment));
    if (is_virtual) TRY(t.set(kTensorIsVirtual, kCudnnBool, is_virtual));
    TRY(t.finalize());
    return keep(std::move(t));
  }

  /// The tensor that the next operation writes: y if it is the last, else a sum in FP32 that no memory holds.
  Result<size_t> result() {
    if (left_-- == 0) return tensor(kCudnnY, spec_.types.out, spec_.y);
    constexpr int64_t kFirstVirtual = 100;
    return tensor(kFirstVirtual + left_, DType::kF32, spec_.y, true);
  }

  Status convolve(size_t x, size_t w, size_t y) {
    CudnnObject c = TRY(CudnnObject::make(target_.library, kCudnnConvolution));
    const int64_t axes = std::ssize(spec_.strides);
    const int precision = kCudnnF32, mode = kCudnnCorrelation;
    TRY(c.set(kConvolutionPrecision, kCudnnTypeOfData, precision));
    TRY(c.set(kConvolutionMode, kCudnnTypeOfConvolution, mode));
    TRY(c.set(kConvolutionAxes, kCudnnInt64, axes));
    TRY(c.set(kConvolutionDilations, kCudnnInt64, axes, spec_.dilations.data()));
    TRY(c.set(kConvolutionStrides, kCudnnInt64, axes, spec_.strides.data()));
    TRY(c.set(kConvolutionPrePads, kCudnnInt64, axes, spec_.pre_pads.data()));
    TRY(c.set(kConvolutionPostPads, kCudnnInt64, axes, spec_.post_pads.data()));
    TRY(c.finalize());
    CudnnObject forward = TRY(CudnnObject::make(target_.library, kCudnnConvolutionForward));
    const float one = 1, zero = 0;
    TRY(forward.set(kForwardConvolution, c));
    TRY(forward.set(kForwardX, at(x)));
    TRY(forward.set(kForwardW, at(w)));
    TRY(forward.set(kForwardY, at(y)));
    TRY(forward.set(kForwardAlpha, kCudnnFloat, one));
    TRY(forward.set(kForwardBeta, kCudnnFloat, zero));
    TRY(forward.finalize());
    keep(std::move(c));
    operations_.push_back(forward.handle());
    keep(std::move(forward));
    return {};
  }

  Result<size_t> apply(int mode, size_t x, size_t b) {
    const size_t y = TRY(result());
    CudnnObject p = TRY(CudnnObject::make(target_.library, kCudnnPointwise));
    const int precision = kCudnnF32;
    TRY(p.set(kPointwiseMode, kCudnnTypeOfPointwise, mode));
    TRY(p.set(kPointwisePrecision, kCudnnTypeOfData, precision));
    TRY(p.finalize());
    CudnnObject operation = TRY(CudnnObject::make(target_.library, kCudnnPointwiseOperation));
    TRY(operation.set(kPointwiseDescriptor, p));
    TRY(operation.set(kPointwiseX, at(x)));
    if (b != kNone) TRY(operation.set(kPointwiseB, at(b)));
    TRY(operation.set(kPointwiseY, at(y)));
    TRY(operation.finalize());
    keep(std::move(p));
    operations_.push_back(operation.handle());
    keep(std::move(operation));
    return y;
  }

  const CudnnTarget& target_;
  const CudnnConvolutionSpec& spec_;
  CudnnGraph made_;
  std::vector<void*> operations_;
  int left_ = 0;
};

Result<CudnnGraph> CudnnGraph::make(const CudnnTarget& target, const CudnnConvolutionSpec& spec) {
  return CudnnGraphMaker(target, spec).run();
}

Result<std::vector<CudnnChoice>> CudnnGraph::ask(const CudnnTarget& target, const CudnnConvolutionSpec& spec,
                                                 CudnnHeuristic mode) const {
  CudnnObject heuristic = TRY(CudnnObject::make(target.library, kCudnnEngineHeuristic));
  const int wanted = mode;
  TRY(heuristic.set(kHeuristicGraph, graph()));
  TRY(heuristic.set(kHeuristicMode, kCudnnTypeOfHeuristic, wanted));
  if (target.device) TRY(heuristic.set(kHeuristicDevice, *target.device));
  std::vector<CudnnChoice> result;
  if (!heuristic.finalize()) return result;  // it knows nothing of such graphs
  const int64_t count = TRY(heuristic.get(kHeuristicResults, kCudnnDescriptor, 0, nullptr));
  std::vector<CudnnObject> configs;
  std::vector<void*> handles;
  for (int64_t i = 0; i < count; ++i) {
    configs.push_back(TRY(CudnnObject::make(target.library, kCudnnEngineConfig)));
    handles.push_back(configs.back().handle());
  }
  const int64_t given = TRY(heuristic.get(kHeuristicResults, kCudnnDescriptor, count, handles.data()));
  for (int64_t i = 0; i < std::min(given, count); ++i)
    if (auto choice = choice_of(target.library, configs[static_cast<size_t>(i)], spec); choice && *choice)
      result.push_back(std::move(**choice));
  return result;
}

Result<std::shared_ptr<const CudnnPlan>> CudnnPlan::make(const CudnnTarget& target, const CudnnConvolutionSpec& spec,
                                                         const CudnnChoice& choice) {
  auto made = std::make_shared<CudnnPlan>();
  made->graph = TRY(CudnnGraph::make(target, spec));
  CudnnObject engine = TRY(CudnnObject::make(target.library, kCudnnEngine));
  TRY(engine.set(kEngineGraph, made->graph.graph()));
  TRY(engine.set(kEngineIndex, kCudnnInt64, choice.engine));
  if (target.device) TRY(engine.set(kEngineDevice, *target.device));
  TRY(engine.finalize());
  CudnnObject config = TRY(CudnnObject::make(target.library, kCudnnEngineConfig));
  TRY(config.set(kConfigEngine, engine));
  std::vector<void*> knobs;
  for (size_t i = 0; i < choice.knobs.size(); ++i) {
    CudnnObject knob = TRY(CudnnObject::make(target.library, kCudnnKnobChoice));
    const int type = static_cast<int>(choice.knobs[i]);
    TRY(knob.set(kKnobType, kCudnnTypeOfKnob, type));
    TRY(knob.set(kKnobValue, kCudnnInt64, choice.values[i]));
    TRY(knob.finalize());
    knobs.push_back(knob.handle());
    made->parts.push_back(std::move(knob));
  }
  if (!knobs.empty()) TRY(config.set(kConfigKnobs, kCudnnDescriptor, std::ssize(knobs), knobs.data()));
  TRY(config.finalize());
  CudnnObject plan = TRY(CudnnObject::make(target.library, kCudnnExecutionPlan));
  if (target.context) TRY(plan.set(kPlanHandle, kCudnnHandle, target.context));
  TRY(plan.set(kPlanConfig, config));
  if (target.device) TRY(plan.set(kPlanDevice, *target.device));
  TRY(plan.finalize());
  TRY(plan.get(kPlanWorkspaceBytes, kCudnnInt64, 1, &made->workspace_bytes));
  made->parts.push_back(std::move(engine));
  made->parts.push_back(std::move(config));
  made->parts.push_back(std::move(plan));
  return made;
}

}  // namespace kiln::cuda
