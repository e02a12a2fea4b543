#include "ops/pooling.h"

#include "api/build/layers/layers.h"
#include "api/build/layers/window_fields.h"

namespace kiln::api {
namespace {

class PoolingLayer final
    : public LayerOf<ops::Pooling, nv::LayerType::kPOOLING, nv::IPoolingLayer, nv::apiv::VPoolingLayer> {
 public:
  using LayerOf::LayerOf;

  void setPoolingType(nv::PoolingType type) noexcept override {
    set_enum("IPoolingLayer::setPoolingType", &ops::Pooling::kind, type);
  }
  nv::PoolingType getPoolingType() const noexcept override { return get_enum<nv::PoolingType>(&ops::Pooling::kind); }
  void setBlendFactor(float blendFactor) noexcept override {
    edit("IPoolingLayer::setBlendFactor", [&](ops::Pooling& op) -> Status {
      TRY(require(blendFactor >= 0 && blendFactor <= 1, "blendFactor is ", blendFactor, ", outside [0, 1]"));
      op.blend = blendFactor;
      return {};
    });
  }
  float getBlendFactor() const noexcept override { return static_cast<float>(op().blend); }
  void setAverageCountExcludesPadding(bool exclusive) noexcept override {
    set("IPoolingLayer::setAverageCountExcludesPadding", &ops::Pooling::average_excludes_padding, exclusive);
  }
  bool getAverageCountExcludesPadding() const noexcept override { return op().average_excludes_padding; }
  void setPrePadding(const nv::Dims& padding) noexcept override {
    set_list("IPoolingLayer::setPrePadding", &ops::Pooling::pre_pads, padding, 0);
  }
  nv::Dims getPrePadding() const noexcept override { return window_list(op().pre_pads, axes(), 0); }
  void setPostPadding(const nv::Dims& padding) noexcept override {
    set_list("IPoolingLayer::setPostPadding", &ops::Pooling::post_pads, padding, 0);
  }
  nv::Dims getPostPadding() const noexcept override { return window_list(op().post_pads, axes(), 0); }
  void setPaddingMode(nv::PaddingMode paddingMode) noexcept override {
    set_enum("IPoolingLayer::setPaddingMode", &ops::Pooling::padding, paddingMode);
  }
  nv::PaddingMode getPaddingMode() const noexcept override { return to_api(op().padding); }
  void setWindowSizeNd(const nv::Dims& windowSize) noexcept override {
    set_list("IPoolingLayer::setWindowSizeNd", &ops::Pooling::window, windowSize, 1);
  }
  nv::Dims getWindowSizeNd() const noexcept override { return to_api(op().window); }
  void setStrideNd(const nv::Dims& stride) noexcept override {
    set_list("IPoolingLayer::setStrideNd", &ops::Pooling::strides, stride, 1);
  }
  nv::Dims getStrideNd() const noexcept override { return window_list(op().strides, axes(), 1); }
  void setPaddingNd(const nv::Dims& padding) noexcept override {
    edit("IPoolingLayer::setPaddingNd", [&](ops::Pooling& op) -> Status {
      op.pre_pads = op.post_pads = TRY(numbers(padding, static_cast<int>(axes()), 0, "padding"));
      return {};
    });
  }
  nv::Dims getPaddingNd() const noexcept override { return getPrePadding(); }

 private:
  size_t axes() const { return op().window.size(); }
  void set_list(const char* call, std::vector<int64_t> ops::Pooling::*field, const nv::Dims& dims,
                int64_t least) noexcept {
    edit(call, [&](ops::Pooling& op) -> Status {
      op.*field = TRY(numbers(dims, static_cast<int>(axes()), least, "the argument"));
      return {};
    });
  }
};

}  // namespace

Result<nv::IPoolingLayer*> add_pooling(Network& network, nv::ITensor& input, nv::PoolingType type,
                                       const nv::Dims& window) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  const ops::Pooling op{.kind = TRY(enum_from_api<ops::PoolingKind>(type, "type")),
                        .window = TRY(numbers(window, -1, 1, "windowSize"))};
  const int rank = TRY(network.rank_of(x));
  TRY(require(op.window.size() == 2 || op.window.size() == 3, "windowSize has ", op.window.size(),
              " numbers; 2 or 3 are possible"));
  TRY(require(rank == static_cast<int>(op.window.size()) + 2, "the input has rank ", rank, "; a window of ",
              op.window.size(), " axes needs rank ", op.window.size() + 2));
  return network.add<PoolingLayer>(op, {x}, Settings::kToCome);
}

MakeLayer maker_of(Tag<ops::Pooling>) { return make<PoolingLayer>; }

}  // namespace kiln::api
