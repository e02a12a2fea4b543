/// The base of every layer object: a node of a network's graph, and the slots that all layers share.
#pragma once

#include <NvInfer.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/base/guard.h"
#include "ir/graph.h"

namespace kiln::api {

namespace nv = nvinfer1;
class Network;

/// The slots of VLayer over a node. Precision and output types are wishes of weakly typed networks; see precisions.h.
class Layer : public nv::apiv::VLayer {
 public:
  Layer(Network& network, ir::NodeId node) : network_(network), node_(node) {}
  /// The object that a program holds.
  virtual nv::ILayer& interface() = 0;
  ir::NodeId node() const { return node_; }
  const std::map<int, DType>& output_types() const { return output_types_; }
  std::optional<DType> precision() const { return precision_; }

  void setName(const char* name) noexcept override;
  const char* getName() const noexcept override;
  int32_t getNbInputs() const noexcept override;
  nv::ITensor* getInput(int32_t index) const noexcept override;
  int32_t getNbOutputs() const noexcept override;
  nv::ITensor* getOutput(int32_t index) const noexcept override;
  void setInput(int32_t index, nv::ITensor& tensor) noexcept override;
  void setPrecision(nv::DataType dataType) noexcept override;
  nv::DataType getPrecision() const noexcept override;
  bool precisionIsSet() const noexcept override { return precision_.has_value(); }
  void resetPrecision() noexcept override { precision_.reset(); }
  void setOutputType(int32_t index, nv::DataType dataType) noexcept override;
  nv::DataType getOutputType(int32_t index) const noexcept override;
  bool outputTypeIsSet(int32_t index) const noexcept override { return output_types_.contains(index); }
  void resetOutputType(int32_t index) noexcept override { output_types_.erase(index); }
  void setMetadata(const char* docString) noexcept override;
  const char* getMetadata() const noexcept override { return metadata_.c_str(); }
  bool setNbRanks(int32_t nbRanks) noexcept override;
  int32_t getNbRanks() const noexcept override { return num_ranks_; }

 protected:
  Network& network() const { return network_; }
  ir::Graph& graph() const;
  const Reporter& reporter() const;
  const ir::Node& ir_node() const { return graph().node(node_); }
  /// The value of an input; kNone where it is absent or a weight that the layer was given as such.
  ir::ValueId input_value(int index) const;
  bool has_input(int index) const { return input_value(index) != ir::ValueId::kNone; }
  /// Puts a value (or kNone) in an input's place; the node grows or shrinks to the inputs that are there.
  void put_input(int index, ir::ValueId value);
  /// An axis of input 0, counted from the front: nodes that the parser made may count from the back.
  int from_front(int axis) const;
  /// Checks the index of an input that setInput may replace. The default takes the indices that the op can have.
  virtual Status check_input(int index) const;
  /// Called after setInput.
  virtual Status input_changed(int index) { return static_cast<void>(index), Status(); }

 private:
  Status set_input(int32_t index, const nv::ITensor& tensor);

  Network& network_;
  const ir::NodeId node_;
  std::optional<DType> precision_;
  std::map<int, DType> output_types_;
  std::string metadata_;
  int32_t num_ranks_ = 1;
};

/// A number of one of the API's enums as ours, whose enumerators have the same values; fails if it is none.
template <class To, class From>
Result<To> enum_from_api(From value, const char* what) {
  const auto number = static_cast<int32_t>(value);
  TRY(require(number >= 0 && number < nv::EnumMax<From>(), what, " ", number, " is outside [0, ", nv::EnumMax<From>(),
              ")"));
  return static_cast<To>(number);
}

/// A layer whose node holds an op of type T. Accessors touch one field of it.
template <class T, nv::LayerType kType, class I, class V>
class LayerOf : public I, public Layer, public V {
 public:
  LayerOf(Network& network, ir::NodeId node) : Layer(network, node) {
    this->mLayer = this;
    this->mImpl = this;
  }
  nv::ILayer& interface() final { return *this; }
  nv::LayerType getType() const noexcept final { return kType; }
  // The interface's inline calls of the same names lead to these.
  using Layer::getInput;
  using Layer::getName;
  using Layer::getOutput;
  using Layer::setInput;

 protected:
  const T& op() const { return *ir_node().op.template as<T>(); }
  /// Puts a changed copy of the op in the node; `change` takes a T& and may return a Status.
  template <class F>
  bool edit(const char* call, F change) noexcept {
    return guard(reporter(), call, [&]() -> Status {
      T copy = op();
      if constexpr (std::is_void_v<decltype(change(copy))>)
        change(copy);
      else
        TRY(change(copy));
      graph().set_op(node(), std::move(copy));
      return {};
    });
  }
  template <class Field, class Value>
  bool set(const char* call, Field T::*field, Value value) noexcept {
    return edit(call, [&](T& op) { op.*field = value; });
  }
  template <class Field, class Value>
  bool set_enum(const char* call, Field T::*field, Value value) noexcept {
    return edit(call, [&](T& op) -> Status {
      op.*field = TRY(enum_from_api<Field>(value, "value"));
      return {};
    });
  }
  template <class To, class Field>
  To get_enum(Field T::*field) const noexcept {
    return static_cast<To>(op().*field);
  }
};

}  // namespace kiln::api
