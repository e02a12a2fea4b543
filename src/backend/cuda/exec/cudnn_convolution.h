/// A convolution as cuDNN takes it, the engines that it offers, and plans made of them.
#pragma once

#include <compare>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/device/cudnn.h"
#include "base/field.h"
#include "steps/contraction_types.h"
#include "tensor/extents.h"

namespace kiln::cuda {

/// y = [relu] (conv(x, w) [+ residual] [+ bias]), channels last, w as [out][kernel...][in]; two or three spatial axes.
struct CudnnConvolutionSpec {
  ContractionTypes types;
  bool tf32 = false;
  bool bias = false, residual = false, relu = false;
  Extents x = {}, w = {}, y = {};  ///< [N, C, spatial...], [out, in of a group, kernel...]
  Extents strides = {}, dilations = {}, pre_pads = {}, post_pads = {};
  auto operator<=>(const CudnnConvolutionSpec&) const = default;
};

/// An engine with the numbers that its knobs are turned to; of one version of the library.
struct CudnnChoice {
  int64_t engine = 0;
  std::vector<int64_t> knobs, values;  ///< cudnnBackendKnobType_t and what they are set to
  bool compiles = false;               ///< when a plan is made of it, which takes a quarter of a second
  bool same_as(const CudnnChoice& o) const { return engine == o.engine && knobs == o.knobs && values == o.values; }
  std::string name() const;  ///< "engine 38, knobs 2=130 13=64"

  static void reflect(auto& self, auto f) {
    f("engine", self.engine), f("knobs", self.knobs), f("values", self.values);
  }
  Status check() const;
};

/// The device that something is planned for: that of a context, or one that is described (a test without a GPU).
struct CudnnTarget {
  const Cudnn& library;
  CudnnContext* context = nullptr;
  const CudnnObject* device = nullptr;
};

/// Tensors by their names in a variant pack.
enum CudnnTensorId : int64_t { kCudnnX = 1, kCudnnW, kCudnnBias, kCudnnResidual, kCudnnY };

/// The operations of a convolution, with all that they refer to.
class CudnnGraph {
 public:
  static Result<CudnnGraph> make(const CudnnTarget& target, const CudnnConvolutionSpec& spec);
  /// The library's choices in this mode, the likeliest first, without those that `spec` does not allow.
  Result<std::vector<CudnnChoice>> ask(const CudnnTarget& target, const CudnnConvolutionSpec& spec,
                                       CudnnHeuristic mode) const;
  const CudnnObject& graph() const { return parts_.back(); }

 private:
  friend class CudnnGraphMaker;
  std::vector<CudnnObject> parts_;
};

/// Something that can be executed.
struct CudnnPlan {
  CudnnGraph graph;
  std::vector<CudnnObject> parts;  ///< the plan itself is last
  int64_t workspace_bytes = 0;

  static Result<std::shared_ptr<const CudnnPlan>> make(const CudnnTarget& target, const CudnnConvolutionSpec& spec,
                                                       const CudnnChoice& choice);
  void* handle() const { return parts.back().handle(); }
};

}  // namespace kiln::cuda
