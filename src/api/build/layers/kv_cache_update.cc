/// New keys or values written into a cache.
#include "ops/kv_cache_update.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

Status check_mode(nv::KVCacheMode mode) {
  return require(mode == nv::KVCacheMode::kLINEAR, "cacheMode is ", static_cast<int32_t>(mode),
                 "; kLINEAR is the only one");
}

class KVCacheUpdateLayer final : public LayerOf<ops::KvCacheUpdate, nv::LayerType::kKVCACHE_UPDATE,
                                                nv::IKVCacheUpdateLayer, nv::apiv::VKVCacheUpdateLayer> {
 public:
  using LayerOf::LayerOf;

  bool setCacheMode(nv::KVCacheMode cacheMode) noexcept override {
    return guard(reporter(), "IKVCacheUpdateLayer::setCacheMode", [&] { return check_mode(cacheMode); });
  }
  nv::KVCacheMode getCacheMode() const noexcept override { return nv::KVCacheMode::kLINEAR; }
};

}  // namespace

Result<nv::IKVCacheUpdateLayer*> add_kv_cache_update(Network& network, nv::ITensor& cache, nv::ITensor& update,
                                                     nv::ITensor& write_indices, nv::KVCacheMode mode) {
  const ir::ValueId into = TRY(network.value_of(cache, "cache")), rows = TRY(network.value_of(update, "update"));
  const ir::ValueId at = TRY(network.value_of(write_indices, "writeIndices"));
  TRY(check_mode(mode));
  return network.add<KVCacheUpdateLayer>(ops::KvCacheUpdate{}, {into, rows, at}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::KvCacheUpdate>) { return make<KVCacheUpdateLayer>; }

}  // namespace kiln::api
