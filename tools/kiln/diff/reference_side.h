/// A network run by every op's reference, with FP32 for FP16 and BF16: true values, one for each tensor.
#pragma once

#include <map>
#include <memory>

#include "ir/graph.h"
#include "kiln/diff/side.h"

namespace kiln::diff {

class ReferenceSide final : public Side {
 public:
  /// `name` is how the network is called: "m.onnx". Fails where the network cannot be widened (widen.h).
  static Result<std::unique_ptr<ReferenceSide>> create(const ir::Graph& graph, std::string name);

  const std::string& description() const override { return description_; }
  Precision precision() const override { return precision_; }
  const std::vector<Spot>& spots() const override { return spots_; }
  /// Inputs are of the types that the network had; what `watcher` wants to put in the place of a tensor is ignored.
  Status run(const std::vector<HostTensor>& inputs, Watcher& watcher) override;

 private:
  class Sink;
  using Key = std::pair<const ir::Graph*, ir::ValueId>;
  struct Place {
    size_t spot;
    std::optional<ByteScale> scale;
  };
  explicit ReferenceSide(ir::Graph graph) : graph_(std::move(graph)) {}
  void add_spots(const ir::Graph& graph, const std::string& body);

  ir::Graph graph_;
  std::string description_;
  Precision precision_ = Precision::kFloat;
  std::vector<Spot> spots_;
  std::map<Key, Place> places_;
};

}  // namespace kiln::diff
