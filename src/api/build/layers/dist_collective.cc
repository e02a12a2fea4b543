/// Exchanges of tensors between devices.
#include "ops/dist_collective.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class DistCollectiveLayer final : public LayerOf<ops::DistCollective, nv::LayerType::kDIST_COLLECTIVE,
                                                 nv::IDistCollectiveLayer, nv::apiv::VDistCollectiveLayer> {
 public:
  using LayerOf::LayerOf;

  bool setNbRanks(int32_t nbRanks) noexcept override {
    return guard(reporter(), "ILayer::setNbRanks", [&] {
      return require(nbRanks == 1, "nbRanks of layer '", getName(), "' is ", nbRanks, "; Kiln runs on one rank");
    });
  }
};

}  // namespace

Result<nv::IDistCollectiveLayer*> add_dist_collective(Network& network, nv::ITensor& input,
                                                      nv::CollectiveOperation operation, nv::ReduceOperation reduction,
                                                      int64_t root, std::span<const int64_t> ranks) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  const ops::DistCollective op{.kind = TRY(enum_from_api<CollectiveKind>(operation, "distCollectiveOp")),
                               .reduction = TRY(enum_from_api<ops::ReduceKind>(reduction, "reduceOp")),
                               .root = root,
                               .ranks = {ranks.begin(), ranks.end()}};
  return network.add<DistCollectiveLayer>(op, {x}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::DistCollective>) { return make<DistCollectiveLayer>; }

}  // namespace kiln::api
