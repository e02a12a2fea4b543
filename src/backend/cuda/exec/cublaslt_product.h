/// A matrix product as cuBLASLt takes it, and the ways it knows to compute one.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backend/cuda/device/cublaslt.h"
#include "backend/cuda/device/cuda_device.h"
#include "steps/contraction_types.h"
#include "steps/epilogue.h"
#include "steps/product_shape.h"

namespace kiln::cuda {

/// y[i][j] = sum over l of a[i][l] * b[l][j], all row-major, in batches that lie in one stride, with its epilogue.
struct LtProduct {
  ContractionTypes types;
  bool tf32 = false;
  bool transpose_a = false, transpose_b = false;      ///< a is stored [k][m], b [n][k]
  bool bias = false, residual = false, relu = false;  ///< bias[j], residual[i][j], in this order
  bool scales = false;                                ///< the sums of column j are multiplied by scale[j] first
  int64_t m = 0, n = 0, k = 0, batches = 1;
  int64_t a_step = 0, b_step = 0, y_step = 0;  ///< elements from batch to batch
  auto operator<=>(const LtProduct&) const = default;
};

/// The library's algorithm that a plan takes.
struct LtTuning {
  bool tf32 = false;
  Bytes algorithm;      ///< an LtAlgo
  int64_t version = 0;  ///< of the library; another chooses again

  static void reflect(auto& self, auto f) {
    f("tf32", self.tf32), f("algorithm", self.algorithm), f("version", self.version);
  }
  Status check() const;
};

/// A product of these types and without extents, with an epilogue that `check_library` takes.
LtProduct library_product(const ContractionTypes& types, const steps::Epilogue& epilogue, bool tf32);
/// A product of bytes of these types, likewise, whose b is stored [n][k].
LtProduct library_product_of_bytes(const ContractionTypes& types, const steps::Epilogue& epilogue, bool by_channel);
/// The type of a bias that the library adds to results of a type: of INT8 f32, of FP8 f16.
DType library_bias_type(DType result);
/// `of`, with the extents of a product of matrices. Fails where batches have no common step.
Result<LtProduct> product_of_matrices(LtProduct of, const ops::MatrixMultiply& op, const Extents& a, const Extents& b);
/// `of`, with the extents of a convolution of one tap in channels-last order, whose w is b.
Result<LtProduct> product_of_points(LtProduct of, const Extents& w, const Extents& y);

/// The library's view of a product. Its bias pointer is set before each run.
class LtDescriptors {
 public:
  static Result<LtDescriptors> make(const CublasLt& library, const LtProduct& product);

  LtMatmulDesc* product() const { return desc_.get(); }
  /// The library is column-major: its first matrix is our b, its second our a.
  LtMatrixLayout* first() const { return first_.get(); }
  LtMatrixLayout* second() const { return second_.get(); }
  LtMatrixLayout* result() const { return result_.get(); }
  /// A residual's, which results of FP8 cannot have: theirs describes a tensor of f16 that is not there.
  LtMatrixLayout* residual() const { return residual_ ? residual_.get() : result_.get(); }

 private:
  template <class T>
  using Held = std::unique_ptr<T, int (*)(T*)>;
  explicit LtDescriptors(const CublasLt& library)
      : desc_(nullptr, library.matmul_desc_destroy),
        first_(nullptr, library.matrix_layout_destroy),
        second_(nullptr, library.matrix_layout_destroy),
        result_(nullptr, library.matrix_layout_destroy),
        residual_(nullptr, library.matrix_layout_destroy) {}
  Held<LtMatmulDesc> desc_;
  Held<LtMatrixLayout> first_, second_, result_, residual_;
};

/// An algorithm for one product.
struct LtChoice {
  LtAlgo algo{};
  int64_t workspace_bytes = 0;
};

/// The library on one device. Safe from several threads.
class CublasLtOnDevice {
 public:
  static Result<std::shared_ptr<CublasLtOnDevice>> create(CudaDevice& device);
  ~CublasLtOnDevice();
  CublasLtOnDevice(const CublasLtOnDevice&) = delete;
  CublasLtOnDevice& operator=(const CublasLtOnDevice&) = delete;

  const CublasLt& library() const { return library_; }
  LtContext* context() const { return context_; }
  CudaDevice& device() const { return device_; }

  static constexpr int64_t kMostWorkspace = int64_t{32} << 20;
  static constexpr int kMostChoices = 8;  ///< it answers with no more
  /// The likeliest first, remembered. Empty where the library has no algorithm.
  Result<std::vector<LtChoice>> choices(const LtProduct& product);
  /// `algo` for this product, if it is one for it.
  Result<LtChoice> check(const LtDescriptors& descriptors, const LtAlgo& algo) const;
  /// "algorithm 66, tile 20, stages 35, 2 splits"
  std::string describe(const LtAlgo& algo) const;

 private:
  CublasLtOnDevice(CudaDevice& device, const CublasLt& library, LtContext* context)
      : device_(device), library_(library), context_(context) {}
  Result<std::vector<LtChoice>> ask(const LtProduct& product) const;
  /// Whether an algorithm multiplies the sums of each column by a number of its own.
  bool takes_scales(const LtAlgo& algo) const;

  CudaDevice& device_;
  const CublasLt& library_;
  LtContext* const context_;
  std::mutex mutex_;
  std::map<LtProduct, std::vector<LtChoice>> known_;
};

/// "13.1.0"
std::string version_text(const CublasLt& library);

}  // namespace kiln::cuda
