/// Zeros around, or edges cut off, the last two axes.
#include "ops/padding.h"
#include "api/base/convert.h"
#include "api/build/arguments.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class PaddingLayer final
    : public LayerOf<ops::Padding, nv::LayerType::kPADDING, nv::IPaddingLayer, nv::apiv::VPaddingLayer> {
 public:
  using LayerOf::LayerOf;

  void setPrePaddingNd(const nv::Dims& padding) noexcept override {
    set_pads("IPaddingLayer::setPrePaddingNd", &ops::Padding::pre, padding);
  }
  nv::Dims getPrePaddingNd() const noexcept override { return to_api(op().pre); }
  void setPostPaddingNd(const nv::Dims& padding) noexcept override {
    set_pads("IPaddingLayer::setPostPaddingNd", &ops::Padding::post, padding);
  }
  nv::Dims getPostPaddingNd() const noexcept override { return to_api(op().post); }

 private:
  void set_pads(const char* call, std::vector<int64_t> ops::Padding::*pads, const nv::Dims& padding) noexcept {
    edit(call, [&](ops::Padding& op) -> Status {
      op.*pads = TRY(numbers(padding, 2, INT64_MIN, "padding"));
      return {};
    });
  }
};

}  // namespace

Result<nv::IPaddingLayer*> add_padding(Network& network, nv::ITensor& input, const nv::Dims& pre,
                                       const nv::Dims& post) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  const ops::Padding op{.pre = TRY(numbers(pre, 2, INT64_MIN, "prePadding")),
                        .post = TRY(numbers(post, 2, INT64_MIN, "postPadding"))};
  const int rank = TRY(network.rank_of(x));
  TRY(require(rank >= 4, "the input has rank ", rank, "; padding needs 4 at least"));
  return network.add<PaddingLayer>(op, {x}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::Padding>) { return make<PaddingLayer>; }

}  // namespace kiln::api
