#include "ops/shuffle.h"

#include <algorithm>
#include <numeric>

#include "api/base/convert.h"
#include "api/build/arguments.h"
#include "api/build/layers/layers.h"
#include "ops/movement.h"
#include "ops/reshape.h"
#include "ops/transpose.h"

namespace kiln::api {
namespace {

constexpr int kMaxAxes = nv::Dims::MAX_DIMS;

nv::Permutation identity() {
  nv::Permutation permutation{};
  std::iota(permutation.order, permutation.order + kMaxAxes, 0);
  return permutation;
}

/// The op's permutation, with absent axes left in place.
nv::Permutation to_permutation(const std::vector<int64_t>& perm) {
  nv::Permutation permutation = identity();
  for (size_t i = 0; i < perm.size() && i < kMaxAxes; ++i) permutation.order[i] = static_cast<int32_t>(perm[i]);
  return permutation;
}

/// The first `rank` entries, which must have each axis once; empty where they change nothing.
Result<std::vector<int64_t>> to_perm(const nv::Permutation& permutation, int rank, const char* what) {
  std::vector<int64_t> perm(permutation.order, permutation.order + rank);
  TRY(in_context(require_permutation(perm, rank), [&] { return std::string(what); }));
  if (std::is_sorted(perm.begin(), perm.end())) perm.clear();
  return perm;
}

bool is_identity(const nv::Permutation& permutation) {
  return std::is_sorted(permutation.order, permutation.order + kMaxAxes);
}

/// The API's permutations always have eight entries, the op's as many as the tensor has axes. The layer sets the op's
/// anew whenever the number of axes may have changed.
class ShuffleLayer final
    : public LayerOf<ops::Shuffle, nv::LayerType::kSHUFFLE, nv::IShuffleLayer, nv::apiv::VShuffleLayer> {
 public:
  ShuffleLayer(Network& network, ir::NodeId node)
      : LayerOf(network, node), first_(to_permutation(op().first_perm)), second_(to_permutation(op().second_perm)) {}

  void setFirstTranspose(const nv::Permutation& permutation) noexcept override {
    set_permutation("IShuffleLayer::setFirstTranspose", first_, permutation);
  }
  const nv::Permutation& getFirstTranspose() const noexcept override { return first_; }
  void setSecondTranspose(const nv::Permutation& permutation) noexcept override {
    set_permutation("IShuffleLayer::setSecondTranspose", second_, permutation);
  }
  const nv::Permutation& getSecondTranspose() const noexcept override { return second_; }

  void setReshapeDimensions(const nv::Dims& dimensions) noexcept override {
    edit("IShuffleLayer::setReshapeDimensions", [&](ops::Shuffle& op) -> Status {
      Extents dims = TRY(numbers(dimensions, -1, -1, "dimensions"));
      TRY(require(std::count(dims.begin(), dims.end(), -1) <= 1, "dimensions ", dims, " have more than one -1"));
      op.dims = std::move(dims);
      op.reshape = true;
      put_input(1, ir::ValueId::kNone);
      return set_perms(op);
    });
  }
  nv::Dims getReshapeDimensions() const noexcept override {
    return op().reshape && !has_input(1) ? to_api(op().dims) : no_dims();
  }
  void setZeroIsPlaceholder(bool zeroIsPlaceholder) noexcept override {
    set("IShuffleLayer::setZeroIsPlaceholder", &ops::Shuffle::zero_is_placeholder, zeroIsPlaceholder);
  }
  bool getZeroIsPlaceholder() const noexcept override { return op().zero_is_placeholder; }

 private:
  void set_permutation(const char* call, nv::Permutation& kept, const nv::Permutation& permutation) noexcept {
    edit(call, [&](ops::Shuffle& op) -> Status {
      const nv::Permutation* const given = address_of(permutation);
      TRY(require(given != nullptr, "the permutation is null"));
      const nv::Permutation before = std::exchange(kept, *given);
      Status done = set_perms(op);
      if (!done) kept = before;
      return done;
    });
  }
  Status input_changed(int) override {
    ops::Shuffle copy = op();
    TRY(set_perms(copy));
    graph().set_op(node(), std::move(copy));
    return {};
  }
  Status set_perms(ops::Shuffle& op) {
    op.first_perm.clear();
    op.second_perm.clear();
    if (!is_identity(first_)) op.first_perm = TRY(to_perm(first_, TRY(network().rank_of(input_value(0))), "first"));
    if (!is_identity(second_)) op.second_perm = TRY(to_perm(second_, TRY(rank_after_reshape(op)), "second"));
    return {};
  }
  Result<int> rank_after_reshape(const ops::Shuffle& op) {
    if (!has_input(1)) return op.reshape ? static_cast<int>(op.dims.size()) : TRY(network().rank_of(input_value(0)));
    const TensorType& shape = TRY(graph().inferred_type(input_value(1)));
    const auto count = shape.volume().constant();
    TRY(require(count.has_value(), "the shape input is ", shape, "; its length must be known"));
    return static_cast<int>(*count);
  }

  nv::Permutation first_, second_;
};

}  // namespace

Result<nv::IShuffleLayer*> add_shuffle(Network& network, nv::ITensor& input) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  return network.add<ShuffleLayer>(ops::Shuffle{}, {x}, Settings::kToCome);
}

/// The parser makes Transpose and Reshape nodes, which are shuffles to the API.
static std::unique_ptr<Layer> make_shuffle(Network& network, ir::NodeId node) {
  ir::Graph& graph = network.graph();
  const Op op = graph.node(node).op;
  if (const auto* transpose = op.as<ops::Transpose>())
    graph.set_op(node, ops::Shuffle{.first_perm = transpose->perm});
  else if (const auto* reshape = op.as<ops::Reshape>())
    graph.set_op(
        node,
        ops::Shuffle{.dims = reshape->dims, .reshape = true, .zero_is_placeholder = reshape->zero_is_placeholder});
  return make<ShuffleLayer>(network, node);
}
MakeLayer maker_of(Tag<ops::Reshape>) { return make_shuffle; }
MakeLayer maker_of(Tag<ops::Shuffle>) { return make_shuffle; }
MakeLayer maker_of(Tag<ops::Transpose>) { return make_shuffle; }

}  // namespace kiln::api
