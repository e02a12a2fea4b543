/// Rotary position embedding.
#include "ops/rotary_embedding.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

Status check_dim(int32_t dim) {
  return require(dim >= 0 && dim % 2 == 0, "rotaryEmbeddingDim is ", dim,
                 "; an even number is needed, or 0 for all of a head");
}

class RotaryEmbeddingLayer final : public LayerOf<ops::RotaryEmbedding, nv::LayerType::kROTARY_EMBEDDING,
                                                  nv::IRotaryEmbeddingLayer, nv::apiv::VRotaryEmbeddingLayer> {
 public:
  using LayerOf::LayerOf;

  void setInterleaved(bool interleaved) noexcept override {
    set("IRotaryEmbeddingLayer::setInterleaved", &ops::RotaryEmbedding::interleaved, interleaved);
  }
  bool getInterleaved() const noexcept override { return op().interleaved; }
  bool setRotaryEmbeddingDim(int32_t rotaryEmbeddingDim) noexcept override {
    return edit("IRotaryEmbeddingLayer::setRotaryEmbeddingDim", [&](ops::RotaryEmbedding& op) -> Status {
      TRY(check_dim(rotaryEmbeddingDim));
      op.dim = rotaryEmbeddingDim;
      return {};
    });
  }
  int32_t getRotaryEmbeddingDim() const noexcept override { return op().dim; }
  void setInput(int32_t index, nv::ITensor& tensor) noexcept override { Layer::setInput(index, tensor); }
};

}  // namespace

Result<nv::IRotaryEmbeddingLayer*> add_rotary_embedding(Network& network, nv::ITensor& input, nv::ITensor& cos_cache,
                                                        nv::ITensor& sin_cache, bool interleaved, int32_t dim) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  const ir::ValueId cos = TRY(network.value_of(cos_cache, "cosCache"));
  const ir::ValueId sin = TRY(network.value_of(sin_cache, "sinCache"));
  TRY(check_dim(dim));
  // The caches may be tables that positions pick from, which setInput(3, positions) gives later.
  return network.add<RotaryEmbeddingLayer>(ops::RotaryEmbedding{interleaved, dim}, {x, cos, sin}, Settings::kToCome);
}
MakeLayer maker_of(Tag<ops::RotaryEmbedding>) { return make<RotaryEmbeddingLayer>; }

}  // namespace kiln::api
