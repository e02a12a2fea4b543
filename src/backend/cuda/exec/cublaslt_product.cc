#include "backend/cuda/exec/cublaslt_product.h"

#include "backend/cuda/exec/library_inputs.h"

namespace kiln::cuda {
namespace {

Result<int> lt_data_type(DType type) {
  switch (type) {
    case DType::kF32: return kLtF32;
    case DType::kF16: return kLtF16;
    case DType::kBF16: return kLtBF16;
    case DType::kI8: return kLtI8;
    case DType::kF8E4M3: return kLtE4M3;
    default: return error(Code::kUnsupported, "cuBLASLt is not asked for products of ", type);
  }
}

int epilogue_of(const LtProduct& product) {
  if (product.bias) return product.relu ? kLtEpilogueReluBias : kLtEpilogueBias;
  return product.relu ? kLtEpilogueRelu : kLtEpilogueNone;
}

int compute_type(const LtProduct& product) {
  if (product.types.a == DType::kI8) return kLtCompute32I;
  return product.tf32 ? kLtCompute32FFastTf32 : kLtCompute32F;
}

/// A matrix whose columns lie behind each other, in batches.
struct Layout {
  int64_t rows, columns, step;
};

Status add_layout(const CublasLt& library, DType type, const Layout& layout, int64_t batches, LtMatrixLayout*& made) {
  TRY(library.check(library.matrix_layout_create(&made, TRY(lt_data_type(type)), static_cast<uint64_t>(layout.rows),
                                                 static_cast<uint64_t>(layout.columns), layout.rows),
                    "a matrix of ", layout.rows, " x ", layout.columns));
  if (batches == 1) return {};
  const auto count = static_cast<int32_t>(batches);
  TRY(library.check(library.matrix_layout_set_attribute(made, kLtBatchCount, &count, sizeof count), batches,
                    " batches"));
  return library.check(library.matrix_layout_set_attribute(made, kLtBatchStride, &layout.step, sizeof layout.step),
                       "the batches' step");
}

class Preference {
 public:
  static Result<Preference> make(const CublasLt& library) {
    Preference made(library);
    LtPreference* handle = nullptr;
    TRY(library.check(library.preference_create(&handle), "a preference"));
    made.handle_.reset(handle);
    const uint64_t workspace = CublasLtOnDevice::kMostWorkspace;
    TRY(made.set(kLtMaxWorkspaceBytes, workspace));
    const uint32_t reductions = kLtReduceInComputeType;  // sums of parts stay FP32
    TRY(made.set(kLtReductionMask, reductions));
    const uint32_t alignment = 16;  // of tensors in views; those of the arena have more
    for (const int which : {kLtMinAlignmentA, kLtMinAlignmentB, kLtMinAlignmentC, kLtMinAlignmentD})
      TRY(made.set(which, alignment));
    return made;
  }
  LtPreference* get() const { return handle_.get(); }

 private:
  explicit Preference(const CublasLt& library) : library_(&library), handle_(nullptr, library.preference_destroy) {}
  template <class T>
  Status set(int attribute, const T& value) const {
    return library_->check(library_->preference_set_attribute(handle_.get(), attribute, &value, sizeof value),
                           "preference ", attribute);
  }
  const CublasLt* library_;
  std::unique_ptr<LtPreference, int (*)(LtPreference*)> handle_;
};

}  // namespace

Result<LtDescriptors> LtDescriptors::make(const CublasLt& library, const LtProduct& p) {
  LtDescriptors made(library);
  LtMatmulDesc* desc = nullptr;
  TRY(library.check(library.matmul_desc_create(&desc, compute_type(p), kLtF32), "a product's description"));
  made.desc_.reset(desc);
  const auto set = [&](int attribute, const auto& value) {
    return library.check(library.matmul_desc_set_attribute(desc, attribute, &value, sizeof value), "attribute ",
                         attribute, " of a product");
  };
  const int first_op = p.transpose_b ? kLtTranspose : kLtAsIs, second_op = p.transpose_a ? kLtTranspose : kLtAsIs;
  TRY(set(kLtTransposeA, first_op));
  TRY(set(kLtTransposeB, second_op));
  const int epilogue = epilogue_of(p);
  TRY(set(kLtEpilogue, epilogue));
  if (p.bias) {
    const int bias_type = TRY(lt_data_type(library_bias_type(p.types.out)));
    TRY(set(kLtBiasDataType, bias_type));
    const uintptr_t somewhere = 256;  // heuristics read its alignment and nothing more
    TRY(set(kLtBiasPointer, somewhere));
  }
  if (p.scales) {
    const int mode = kLtAlphaVector;
    TRY(set(kLtPointerMode, mode));
  }
  if (p.types.a == DType::kF8E4M3) {
    const int8_t as_tensor_cores_add = 1;  // as our kernels do
    TRY(set(kLtFastAccumulation, as_tensor_cores_add));
  }
  const auto add = [&](auto& held, DType type, const Layout& layout) -> Status {
    LtMatrixLayout* handle = nullptr;
    Status added = add_layout(library, type, layout, p.batches, handle);
    held.reset(handle);
    return added;
  };
  TRY(add(made.first_, p.types.b, p.transpose_b ? Layout{p.k, p.n, p.b_step} : Layout{p.n, p.k, p.b_step}));
  TRY(add(made.second_, p.types.a, p.transpose_a ? Layout{p.m, p.k, p.a_step} : Layout{p.k, p.m, p.a_step}));
  const Layout result{p.n, p.m, p.y_step};
  TRY(add(made.result_, p.types.out, result));
  if (p.types.out == DType::kF8E4M3) TRY(add(made.residual_, DType::kF16, result));
  return made;
}

Result<std::shared_ptr<CublasLtOnDevice>> CublasLtOnDevice::create(CudaDevice& device) {
  const CublasLt& library = TRY(CublasLt::instance());
  LtContext* context = nullptr;
  TRY(library.check(library.create(&context), "starting cuBLASLt on '", device.properties().name, "'"));
  return std::shared_ptr<CublasLtOnDevice>(new CublasLtOnDevice(device, library, context));
}

CublasLtOnDevice::~CublasLtOnDevice() { library_.destroy(context_); }

Result<std::vector<LtChoice>> CublasLtOnDevice::choices(const LtProduct& product) {
  const std::lock_guard lock(mutex_);
  if (const auto at = known_.find(product); at != known_.end()) return at->second;
  return known_[product] = TRY(ask(product));
}

Result<std::vector<LtChoice>> CublasLtOnDevice::ask(const LtProduct& product) const {
  const CurrentContext current(device_);
  const LtDescriptors d = TRY(LtDescriptors::make(library_, product));
  const Preference preference = TRY(Preference::make(library_));
  LtHeuristicResult found[kMostChoices] = {};
  int count = 0;
  constexpr int kNotSupported = 15;
  const int status = library_.algo_get_heuristic(context_, d.product(), d.first(), d.second(), d.residual(), d.result(),
                                                 preference.get(), kMostChoices, found, &count);
  if (status == kNotSupported) return std::vector<LtChoice>();
  TRY(library_.check(status, "algorithms for ", product.m, " x ", product.n, " x ", product.k));
  std::vector<LtChoice> result;
  for (int i = 0; i < count; ++i)
    if (found[i].state == 0 && (!product.scales || takes_scales(found[i].algo)))
      result.push_back({found[i].algo, static_cast<int64_t>(found[i].workspace_bytes)});
  return result;
}

bool CublasLtOnDevice::takes_scales(const LtAlgo& algo) const {
  uint32_t modes = 0;
  size_t written = 0;
  return library_.algo_cap_get_attribute(&algo, kLtCapPointerModes, &modes, sizeof modes, &written) == 0 &&
         (modes & kLtTakesAlphaVector) != 0;
}

Result<LtChoice> CublasLtOnDevice::check(const LtDescriptors& d, const LtAlgo& algo) const {
  const CurrentContext current(device_);
  LtHeuristicResult result{};
  TRY(library_.check(
      library_.algo_check(context_, d.product(), d.first(), d.second(), d.residual(), d.result(), &algo, &result),
      "an algorithm"));
  TRY(library_.check(result.state, "an algorithm"));
  TRY(require(static_cast<int64_t>(result.workspace_bytes) <= kMostWorkspace, "an algorithm takes ",
              result.workspace_bytes, " bytes of workspace"));
  return LtChoice{algo, static_cast<int64_t>(result.workspace_bytes)};
}

std::string CublasLtOnDevice::describe(const LtAlgo& algo) const {
  const auto get = [&]<class T>(int attribute, T value) {
    size_t written = 0;
    library_.algo_config_get_attribute(&algo, attribute, &value, sizeof value, &written);
    return value;
  };
  std::string text = str("algorithm ", get(kLtAlgoId, int32_t{0}), ", tile ", get(kLtAlgoTile, uint32_t{0}),
                         ", stages ", get(kLtAlgoStages, uint32_t{0}), ", cluster ", get(kLtAlgoCluster, uint16_t{0}));
  if (const auto splits = get(kLtAlgoSplits, int32_t{1}); splits > 1) text += str(", ", splits, " splits");
  return text;
}

Status LtTuning::check() const {
  return require(algorithm.size() == sizeof(LtAlgo), "an algorithm of cuBLASLt has ", algorithm.size(), " bytes");
}

LtProduct library_product(const ContractionTypes& types, const steps::Epilogue& epilogue, bool tf32) {
  return {.types = types,
          .tf32 = tf32,
          .bias = epilogue.bias.has_value(),
          .residual = epilogue.residual.has_value(),
          .relu = is_relu(epilogue)};
}

DType library_bias_type(DType result) {
  return result == DType::kI8 ? DType::kF32 : result == DType::kF8E4M3 ? DType::kF16 : result;
}

LtProduct library_product_of_bytes(const ContractionTypes& types, const steps::Epilogue& epilogue, bool by_channel) {
  LtProduct product = library_product(types, epilogue, /*tf32=*/false);
  product.scales = by_channel;
  return product;
}

namespace {

Status check_extents(const LtProduct& p) {
  constexpr int64_t kMost = int64_t{1} << 31;
  TRY(require(p.m < kMost && p.n < kMost && p.k < kMost && p.batches < kMost, "a product of ", p.batches, " batches, ",
              p.m, " x ", p.n, " x ", p.k, " exceeds cuBLASLt's limit of 2^31"));
  return require(p.k > 0 || p.m == 0 || p.n == 0 || p.batches == 0, "cuBLASLt cannot make sums without terms: k is 0");
}

}  // namespace

Result<LtProduct> product_of_matrices(LtProduct p, const ops::MatrixMultiply& op, const Extents& a, const Extents& b) {
  TRY(require(op.a != ops::MatrixOp::kVector && op.b != ops::MatrixOp::kVector, "a product of ", a, " and ", b,
              " has a vector, and cuBLASLt takes matrices only"));
  p.transpose_a = op.a == ops::MatrixOp::kTranspose, p.transpose_b = op.b == ops::MatrixOp::kTranspose;
  ProductShape shape = ProductShape::of(op, a, b);
  if (!p.transpose_a) shape.join_rows();
  TRY(require(shape.axes.size() <= 1, "batches of ", a, " and ", b, " do not advance by one step, as cuBLASLt needs"));
  p.m = shape.m, p.n = shape.n, p.k = shape.k;
  for (const ProductAxis& axis : shape.axes)
    p.batches = axis.extent, p.a_step = axis.a, p.b_step = axis.b, p.y_step = axis.y;
  TRY(check_extents(p));
  return p;
}

Result<LtProduct> product_of_points(LtProduct p, const Extents& w, const Extents& y) {
  p.transpose_b = true;
  p.n = w[0];
  p.k = w[1];
  p.m = p.n > 0 ? volume(y) / p.n : 0;
  TRY(check_extents(p));
  return p;
}

std::string version_text(const CublasLt& library) {
  return str(library.version / 10000, '.', library.version / 100 % 100, '.', library.version % 100);
}

}  // namespace kiln::cuda
