/// Convolutions and deconvolutions with their epilogue, by kernels of kernels/conv, or of kernels/gemm where every
/// output pixel reads the input pixel at its own place.
#include "backend/cuda/exec/convolution.h"

#include "backend/cuda/exec/cublaslt.h"
#include "backend/cuda/exec/gemm_step.h"
#include "backend/cuda/kernels/conv/family.h"
#include "backend/cuda/kernels/conv/phases.h"
#include "steps/step_tensors.h"

namespace kiln::cuda {
namespace {

/// A tensor map of pixels, encoded again when their address changes.
class PixelMap {
 public:
  Status encode(const Driver& driver, const PixelMapPlan& plan, const void* address) {
    if (address_ == address) return {};
    TRY(driver.check(
        driver.tensor_map_encode_im2col(&map_, plan.type, 4, const_cast<void*>(address), plan.extents,
                                        plan.strides_bytes, plan.lower, plan.upper, plan.channels, plan.pixels,
                                        plan.steps, 0, plan.swizzle, kL2Promote256, kBeyondZero),
        "encode a tensor map of ", plan.extents[3], " pictures of ", plan.extents[2], " x ", plan.extents[1], " x ",
        plan.extents[0]));
    address_ = address;
    return {};
  }
  void* argument() { return &map_; }

 private:
  TensorMap map_{};
  const void* address_ = nullptr;
};

/// Entries of a step's code; `reduce` adds what splits of k left in memory, `pad` runs in front.
struct ConvCode {
  std::shared_ptr<const Module> module;
  Function main;
  std::optional<Function> reduce, pad;
};

/// A launch of the kernel: all of a convolution, or a phase of a deconvolution.
struct Part {
  ConvArguments arguments;
  ConvLaunch plan;
  int64_t w_offset_bytes = 0;
  OperandMap map_w{}, map_tiles[2]{};
  PixelMap map_x[2]{};
};

class BoundConvolution final : public BoundStep {
 public:
  BoundConvolution(const ConvCode& code, const ContractionInputs& inputs, int64_t alignment, std::vector<Part> parts)
      : code_(code), inputs_(inputs), alignment_(alignment), parts_(std::move(parts)) {}

  int64_t workspace_bytes() const override { return parts_.empty() ? 0 : parts_[0].plan.workspace_bytes; }

  Status run(const RunArguments& run) override {
    TRY(require_aligned(run, inputs_.size(), alignment_));
    for (Part& part : parts_) TRY(run_part(part, run));
    return {};
  }

 private:
  Status run_part(Part& part, const RunArguments& run) {
    ConvArguments& a = part.arguments;
    ConvLaunch& plan = part.plan;
    a.x = inputs_.at(0, run);
    a.w = static_cast<const std::byte*>(inputs_.at(1, run)) + part.w_offset_bytes;
    a.y = run.outputs[0];
    a.x_zero = inputs_.x_zero;
    a.partial = reinterpret_cast<float*>(run.workspace + plan.padded_bytes);
    set_operands(a.epilogue, inputs_, run);
    if (code_.pad) {
      plan.pad_arguments.x = a.x;
      plan.pad_arguments.to = run.workspace;
      a.x = run.workspace;
      void* pad[] = {&plan.pad_arguments};
      TRY(launch(*run.stream, *code_.pad, plan.pad, pad));
    }
    if (plan.map_w) {
      if (plan.main.grid[0] == 0) return {};
      const Driver& driver = code_.main.device().driver();
      TRY(part.map_w.encode(driver, *plan.map_w, a.w));
      if (plan.map_x || plan.map_tiles) {
        const void* behind = plan.map_x_behind || plan.map_tiles_behind ? inputs_.at(inputs_.size() - 1, run) : nullptr;
        void* maps[] = {TRY(map_of_x(part, driver, 0, a.x)), behind ? TRY(map_of_x(part, driver, 1, behind)) : nullptr};
        void* one[] = {maps[0], part.map_w.argument(), &a};
        void* two[] = {maps[0], part.map_w.argument(), maps[1], &a};
        return launch(*run.stream, code_.main, plan.main, behind ? two : one);
      }
      void* pointers[] = {part.map_w.argument(), &a};
      return launch(*run.stream, code_.main, plan.main, pointers);
    }
    long long vectors = plan.reduce_vectors;
    void* pointers[] = {&a, &vectors};
    TRY(launch(*run.stream, code_.main, plan.main, pointers));
    return vectors ? launch(*run.stream, *code_.reduce, plan.reduce, pointers) : Status();
  }

  /// The tensor map through which the kernel reads x (`which` 0) or the tensor joined behind it (1).
  static Result<void*> map_of_x(Part& part, const Driver& driver, size_t which, const void* address) {
    if (part.plan.map_x) {
      TRY(part.map_x[which].encode(driver, which ? *part.plan.map_x_behind : *part.plan.map_x, address));
      return part.map_x[which].argument();
    }
    TRY(part.map_tiles[which].encode(driver, which ? *part.plan.map_tiles_behind : *part.plan.map_tiles, address));
    return part.map_tiles[which].argument();
  }

  const ConvCode& code_;
  const ContractionInputs& inputs_;
  const int64_t alignment_;
  std::vector<Part> parts_;
};

/// Whether the step's tensors are of the types and in the formats that the kernel's text takes.
Status check_tensors(const ConvKernel& kernel, const StepSpec& spec) {
  const StepTensor &x = spec.inputs[0], &w = spec.inputs[1], &y = spec.outputs[0];
  const ConvFacts facts = kernel->facts();
  const Format last = Format::channels_last(x.rank), wanted = facts.channels_last ? last : Format::linear();
  return require(kernel->types == ContractionTypes::of(spec) &&
                     (facts.any_order || facts.reads_pictures || x.format == wanted) &&
                     (facts.any_order || y.format == wanted) && (!facts.joined || spec.inputs.back().format == last),
                 "the kernel '", kernel->name(), "' does not make ", y.dtype, " in format ", y.format, " of ", x.dtype,
                 " in format ", x.format, " and ", w.dtype);
}

/// Whether a kernel that wants w in its own order can pack this one.
Status check_packing(const ConvKernel& kernel, const Filter& spec, const FilterExtents& filter, DType type) {
  return require(type == kernel->types.b && kernel->takes(filter) &&
                     (!spec.transposed || has_phases(spec.bind({}, {}))) &&
                     (!kernel->facts().shuffle || spec.window.abuts()) &&
                     (!kernel->splits_filter() || spec.window.kernel.size() <= 2),
                 "the kernel '", kernel->name(), "' cannot pack this filter of ", type);
}

/// A convolution as a step has it.
struct Plan {
  Filter filter;
  ConvKernel kernel;
  ConvCode code;
  Format x, y;

  int64_t num_multiprocessors() const { return code.main.device().properties().num_multiprocessors; }
  Result<std::vector<Part>> parts(const StepShapes& shapes) const;
  Result<std::vector<Part>> phases(const ConvArguments& whole, const FilterExtents& extents) const;
};

Result<std::vector<Part>> Plan::parts(const StepShapes& shapes) const {
  const ConvFacts facts = kernel->facts();
  Extents from = shapes.inputs[0];
  const Extents& to = shapes.outputs[0];
  ConvArguments a;
  a.x_strides = strides_of(x, from);
  if (facts.joined) {
    const Extents& behind = shapes.inputs.back();
    a.joined = static_cast<int32_t>(from[1]);
    a.joined_strides = strides_of(Format::channels_last(static_cast<int>(from.size())), behind);
    from[1] += behind[1];
  }
  const FilterExtents extents = TRY(filter.extents(shapes.inputs[1]));
  a.window = filter.bind(from, to);
  a.y_strides = strides_of(y, to);
  a.images = static_cast<int32_t>(to[0]);
  const int64_t pixels = to[0] * a.window.out_pixels();
  TRY(require(pixels < kMostConvRows, "a convolution makes ", pixels, " pixels; kernels count to 2^31"));
  a.pixels = static_cast<int32_t>(pixels);
  kernel->set_filter(extents, a);
  if (facts.shuffle) TRY(shuffle_taps(a));
  if (filter.transposed && facts.packs_filter && !facts.shuffle) return phases(a, extents);
  ConvLaunch plan = TRY(kernel.plan(a, num_multiprocessors()));
  plan.pad_arguments.channels = static_cast<int32_t>(from[1]);
  return std::vector{Part{a, plan}};
}

/// Cuts a deconvolution into phases; `whole` has the arguments of all of it.
Result<std::vector<Part>> Plan::phases(const ConvArguments& whole, const FilterExtents& extents) const {
  std::vector<Part> parts;
  int64_t elements = 0;
  for (const ConvPhase& phase : phases_of(whole.window)) {
    ConvArguments a = whole;
    a.window = phase.window;
    a.w_out = phase_pitch(kernel, extents, phase);
    a.w_group = extents.out_channels * a.w_out;
    a.pixels = static_cast<int32_t>(a.images * a.window.out_pixels());
    for (size_t axis = 0; axis < 3; ++axis) {
      a.y_first += phase.first[axis] * whole.y_strides.at[axis];
      a.y_strides.at[axis] *= whole.window.stride[axis];
    }
    const ConvLaunch plan = TRY(kernel.plan(a, num_multiprocessors()));
    parts.push_back({a, plan, elements * (bits_of(kernel->types.a) / 8)});
    elements += phase_elements(kernel, extents, phase);
  }
  return parts;
}

}  // namespace

LoadResult load_point(const GemmKernel& kernel, const LoadArguments& arguments, ContractionInputs inputs) {
  LoadedGemm gemm = TRY(LoadedGemm::load(kernel, arguments));
  if (gemm.kernel.types.is_mixed()) {
    const HostTensor* w = arguments.constants[1];
    TRY(require(w && w->dtype() == DType::kF32,
                "the kernel takes FP32 weights from the plan, which has none for this convolution"));
    TRY(inputs.put(1, arguments, pack_split_rows(gemm.kernel.types.a, w->bytes())));
  }
  TRY(inputs.upload_rest(arguments));
  return loaded_step([gemm = std::move(gemm), inputs = std::move(inputs)](const StepShapes& shapes) -> BindResult {
    TRY(check_point(shapes));
    const Extents &w = shapes.inputs[1], &y = shapes.outputs[0];
    const int64_t pixels = w[0] > 0 ? volume(y) / w[0] : 0;
    TRY(require(pixels < (int64_t{1} << 30), "a convolution makes ", pixels, " pixels; kernels count to 2^30"));
    GemmArguments g;
    g.m = static_cast<int32_t>(pixels);
    g.n = static_cast<int32_t>(w[0]);
    g.k = static_cast<int32_t>(w[1]);
    g.a_row = w[1];
    g.b_column = w[1];
    g.b_k = 1;
    g.c_row = w[0];
    return bind_gemm(gemm, inputs, g);
  });
}

Result<std::unique_ptr<LoadedStep>> load_by_kernel(const Filter& filter, const steps::Epilogue& epilogue,
                                                   const ConvKernel& kernel, const LoadArguments& arguments,
                                                   ContractionInputs inputs) {
  const StepSpec& spec = arguments.spec;
  TRY(validate(epilogue));
  TRY(require(spec.inputs.size() <= steps::Epilogue::kBias + EpilogueArguments::kMost, "a convolution has ",
              spec.inputs.size(), " inputs, more than its kernel takes"));
  const ConvFacts facts = kernel->facts();
  TRY(require(facts.transposed == filter.transposed, "the kernel '", kernel->name(), "' is ",
              facts.transposed ? "for deconvolutions only" : "not for deconvolutions"));
  TRY(require(!facts.joined || !arguments.constants.back(),
              "the second input that the convolution joins is a constant"));
  TRY(check_tensors(kernel, spec));
  std::shared_ptr<const Module> module = TRY(StepCode::load(arguments)).shared();
  const Function main = TRY(module->function(kernel->family->entry));
  std::optional<Function> reduce, pad;
  if (facts.pad_channels) pad = TRY(module->function(kPadChannels));
  if (facts.sums_parts) reduce = TRY(module->function(kConvReduce));
  std::optional<Extents> packed_extents;  // of w; none where the kernel takes it as it is
  if (facts.packs_filter) {
    TRY(require(arguments.constants[1] != nullptr, "the kernel packs w, which is not a constant of the plan"));
    const HostTensor& w = *arguments.constants[1];
    packed_extents = w.extents();
    const FilterExtents extents = TRY(filter.extents(*packed_extents));
    TRY(check_packing(kernel, filter, extents, w.dtype()));
    const bool by_phases = filter.transposed && !facts.shuffle;
    const Bytes packed = by_phases ? pack_phases(kernel, extents, phases_of(filter.bind({}, {})), w.bytes())
                                   : kernel->pack(extents, w.bytes());
    TRY(inputs.put(1, arguments, packed));
  }
  TRY(inputs.upload_rest(arguments));
  const int64_t packed_bytes = inputs.packed_bytes();
  auto bind = [plan = Plan{filter, kernel, ConvCode{std::move(module), main, reduce, pad}, spec.inputs[0].format,
                           spec.outputs[0].format},
               packed_extents = std::move(packed_extents),
               inputs = std::move(inputs)](const StepShapes& shapes) -> BindResult {
    if (packed_extents) TRY(require_extents(shapes.inputs[1], *packed_extents, "a convolution's weights"));
    std::vector<Part> parts = TRY(plan.parts(shapes));
    for (const Part& part : parts)
      for (const LaunchShape* shape : {&part.plan.main, &part.plan.reduce, &part.plan.pad})
        TRY(plan.code.main.check(*shape));
    return std::make_unique<BoundConvolution>(plan.code, inputs, plan.kernel->alignment(), std::move(parts));
  };
  return loaded_step(std::move(bind), packed_bytes);
}

Result<std::unique_ptr<LoadedStep>> load(const steps::Convolution& step, const LoadArguments& arguments) {
  const auto tuning = TRY(from_record<ConvolutionTuning>(arguments.spec.tuning));
  TRY(require(step.joined == (tuning.conv && (*tuning.conv)->facts().joined),
              "the convolution and its kernel differ in whether they join two inputs"));
  if (tuning.conv)
    return load_by_kernel(Filter(step), step.epilogue, *tuning.conv, arguments, ContractionInputs(arguments));
  if (tuning.cudnn) return load_by_cudnn(step, *tuning.cudnn, arguments);
  TRY(require(Filter(step).is_point(), "a convolution by ", step.window.kernel,
              " with its strides and pads is not a matrix product"));
  if (tuning.cublaslt) return load_by_cublaslt(step.epilogue, *tuning.cublaslt, {}, arguments);
  TRY(validate(step.epilogue));
  return load_point(*tuning.gemm, arguments, ContractionInputs(arguments));
}

}  // namespace kiln::cuda
