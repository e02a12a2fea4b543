/// Local response normalization.
#include "ops/lrn.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

// TensorRT's limits of the four numbers.
Status check_window(int64_t window) {
  return require(window % 2 == 1 && window >= 1 && window <= 15, "the window is ", window,
                 "; an odd number in [1, 15] is needed");
}
Status check_number(const char* what, float value, double least, double most) {
  return require(value >= least && value <= most, what, " is ", value, ", outside [", least, ", ", most, "]");
}
Status check_alpha(float alpha) { return check_number("alpha", alpha, -1e20, 1e20); }
Status check_beta(float beta) { return check_number("beta", beta, 0.01F, 1e5); }
Status check_k(float k) { return check_number("k", k, 1e-5F, 1e10); }

class LRNLayer final : public LayerOf<ops::Lrn, nv::LayerType::kLRN, nv::ILRNLayer, nv::apiv::VLRNLayer> {
 public:
  using LayerOf::LayerOf;

  void setWindowSize(int64_t windowSize) noexcept override {
    edit("ILRNLayer::setWindowSize", [&](ops::Lrn& op) -> Status {
      TRY(check_window(windowSize));
      op.window = windowSize;
      return {};
    });
  }
  int64_t getWindowSize() const noexcept override { return op().window; }
  void setAlpha(float alpha) noexcept override { put("ILRNLayer::setAlpha", &ops::Lrn::alpha, alpha, check_alpha); }
  float getAlpha() const noexcept override { return static_cast<float>(op().alpha); }
  void setBeta(float beta) noexcept override { put("ILRNLayer::setBeta", &ops::Lrn::beta, beta, check_beta); }
  float getBeta() const noexcept override { return static_cast<float>(op().beta); }
  void setK(float k) noexcept override { put("ILRNLayer::setK", &ops::Lrn::k, k, check_k); }
  float getK() const noexcept override { return static_cast<float>(op().k); }

 private:
  void put(const char* call, double ops::Lrn::*field, float value, Status (*check)(float)) noexcept {
    edit(call, [&](ops::Lrn& op) -> Status {
      TRY(check(value));
      op.*field = value;
      return {};
    });
  }
};

}  // namespace

Result<nv::ILRNLayer*> add_lrn(Network& network, nv::ITensor& input, int64_t window, float alpha, float beta, float k) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  TRY(check_window(window));
  TRY(check_alpha(alpha));
  TRY(check_beta(beta));
  TRY(check_k(k));
  return network.add<LRNLayer>(ops::Lrn{.window = window, .alpha = alpha, .beta = beta, .k = k}, {x},
                               Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::Lrn>) { return make<LRNLayer>; }

}  // namespace kiln::api
