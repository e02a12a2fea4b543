/// A network under construction: a graph, and the objects of the API that stand for its nodes and values, made when
/// first asked for.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/base/guard.h"
#include "api/base/network_handle.h"
#include "api/build/group.h"
#include "api/build/layer.h"
#include "api/build/tensor.h"

namespace kiln::api {

/// Whether a layer can be checked when it is added, or waits for its setters.
enum class Settings : uint8_t { kComplete, kToCome };

class Network final : public NetworkHandle, public nv::apiv::VNetworkDefinition {
 public:
  Network(nv::IBuilder& builder, const Reporter& reporter, nv::NetworkDefinitionCreationFlags flags);
  ~Network() override;

  // For layers, tensors and the builder.
  ir::Graph& graph() override { return graph_; }
  Tensor& tensor(ir::ValueId value) override;
  /// Null for kNone.
  Tensor* tensor_or_null(ir::ValueId value) { return value == ir::ValueId::kNone ? nullptr : &tensor(value); }
  Layer& layer(ir::NodeId node);
  const Reporter& reporter() const override { return reporter_; }
  nv::IGpuAllocator* gpu_allocator() const override;
  bool needs_int32(const ops::Plugin& op, std::span<const DType> before) const override;
  bool strongly_typed() const;
  const std::string& name() const { return name_; }
  /// Layers and tensors that have been asked for; null where none was made.
  const std::vector<std::unique_ptr<Layer>>& made_layers() const { return layer_objects_; }
  const std::vector<std::unique_ptr<Tensor>>& made_tensors() const { return tensors_; }
  const std::vector<ir::ValueId>& shape_outputs() const { return shape_outputs_; }
  bool debugs_unfused() const { return debugs_unfused_; }
  /// Adds the names of debug tensors to a copy of the graph.
  Status add_taps(ir::Graph& graph) const;
  /// The type that setOutputType set for what a layer makes.
  std::optional<DType> output_type_set(ir::ValueId value) const;

  /// Tells the network that an input is called so now.
  void note_input_name(ir::ValueId input, const std::string& name) { inputs_by_name_.emplace(name, input); }

  /// The value of a tensor argument; fails if it is null or of another network. `what` names the argument.
  Result<ir::ValueId> value_of(const nv::ITensor& tensor, const char* what) const;
  /// The rank of a value; fails where what makes it is not valid yet.
  Result<int> rank_of(ir::ValueId value);
  /// Adds a layer of class L. A complete one whose op rejects its inputs is not added.
  template <class L>
  Result<L*> add(Op op, std::span<const ir::ValueId> inputs, Settings settings) {
    const ir::NodeId node = TRY(add_node(std::move(op), inputs, settings));
    auto object = std::make_unique<L>(*this, node);
    L* const layer = object.get();
    keep(node, std::move(object));
    return layer;
  }
  template <class L>
  Result<L*> add(Op op, std::initializer_list<ir::ValueId> inputs, Settings settings) {
    return add<L>(std::move(op), std::span(inputs.begin(), inputs.size()), settings);
  }
  /// A constant that is no layer: weights that a layer was given as such.
  ir::ValueId add_weights(HostTensor value, std::string name);
  /// Whether a value comes from `add_weights`.
  bool is_weights(ir::ValueId value) const;
  /// Removes a value of `add_weights` that nothing uses any more.
  void drop_weights(ir::ValueId value);

  /// A loop, conditional or attention that the network keeps; G's constructor takes the network and the group's id.
  template <class G>
  G& add_group() {
    auto group = std::make_unique<G>(*this, static_cast<int>(groups_.size()));
    G& result = *group;
    groups_.push_back(std::move(group));
    return result;
  }
  /// Null for a boundary that no group of the network has.
  Group* group(int id) const {
    return id >= 0 && static_cast<size_t>(id) < groups_.size() ? groups_[static_cast<size_t>(id)].get() : nullptr;
  }
  std::vector<std::string> group_names() const;

  // VNetworkDefinition: network.cc, network_layers.cc and network_missing.cc.
  nv::ITensor* addInput(const char* name, nv::DataType type, const nv::Dims& dimensions) noexcept override;
  void markOutput(nv::ITensor& tensor) noexcept override;
  nv::IActivationLayer* addActivation(nv::ITensor& input, nv::ActivationType type) noexcept override;
  nv::ILRNLayer* addLRN(nv::ITensor& input, int64_t window, float alpha, float beta, float k) noexcept override;
  nv::IScaleLayer* addScale(nv::ITensor& input, nv::ScaleMode mode, nv::Weights shift, nv::Weights scale,
                            nv::Weights power) noexcept override;
  nv::ISoftMaxLayer* addSoftMax(nv::ITensor& input) noexcept override;
  nv::IConcatenationLayer* addConcatenation(nv::ITensor* const* inputs, int32_t nbInputs) noexcept override;
  nv::IElementWiseLayer* addElementWise(nv::ITensor& input1, nv::ITensor& input2,
                                        nv::ElementWiseOperation op) noexcept override;
  nv::IUnaryLayer* addUnary(nv::ITensor& input, nv::UnaryOperation operation) noexcept override;
  nv::IShuffleLayer* addShuffle(nv::ITensor& input) noexcept override;
  int32_t getNbLayers() const noexcept override;
  nv::ILayer* getLayer(int32_t index) const noexcept override;
  int32_t getNbInputs() const noexcept override;
  nv::ITensor* getInput(int32_t index) const noexcept override;
  int32_t getNbOutputs() const noexcept override;
  nv::ITensor* getOutput(int32_t index) const noexcept override;
  nv::IReduceLayer* addReduce(nv::ITensor& input, nv::ReduceOperation operation, uint32_t reduceAxes,
                              bool keepDimensions) noexcept override;
  nv::ITopKLayer* addTopK(nv::ITensor& input, nv::TopKOperation op, int32_t k, uint32_t reduceAxes) noexcept override;
  nv::IGatherLayer* addGather(nv::ITensor& data, nv::ITensor& indices, int32_t axis) noexcept override;
  nv::IRaggedSoftMaxLayer* addRaggedSoftMax(nv::ITensor& input, nv::ITensor& bounds) noexcept override;
  nv::IMatrixMultiplyLayer* addMatrixMultiply(nv::ITensor& input0, nv::MatrixOperation op0, nv::ITensor& input1,
                                              nv::MatrixOperation op1) noexcept override;
  nv::IConstantLayer* addConstant(const nv::Dims& dimensions, nv::Weights weights) noexcept override;
  nv::IIdentityLayer* addIdentity(nv::ITensor& input) noexcept override;
  void removeTensor(nv::ITensor& tensor) noexcept override;
  void unmarkOutput(nv::ITensor& tensor) noexcept override;
  nv::IPluginV2Layer* addPluginV2(nv::ITensor* const* inputs, int32_t nbInputs,
                                  nv::IPluginV2& plugin) noexcept override;
  nv::IPluginV3Layer* addPluginV3(nv::ITensor* const* inputs, int32_t nbInputs, nv::ITensor* const* shapeInputs,
                                  int32_t nbShapeInputs, nv::IPluginV3& plugin) noexcept override;
  nv::ISliceLayer* addSlice(nv::ITensor& input, const nv::Dims& start, const nv::Dims& size,
                            const nv::Dims& stride) noexcept override;
  void setName(const char* name) noexcept override;
  const char* getName() const noexcept override;
  nv::IShapeLayer* addShape(nv::ITensor& input) noexcept override;
  bool hasImplicitBatchDimension() const noexcept override;
  bool markOutputForShapes(nv::ITensor& tensor) noexcept override;
  bool unmarkOutputForShapes(nv::ITensor& tensor) noexcept override;
  nv::IParametricReLULayer* addParametricReLU(nv::ITensor& input, nv::ITensor& slope) noexcept override;
  nv::IConvolutionLayer* addConvolutionNd(nv::ITensor& input, int64_t nbOutputMaps, const nv::Dims& kernelSize,
                                          nv::Weights kernelWeights, nv::Weights biasWeights) noexcept override;
  nv::IPoolingLayer* addPoolingNd(nv::ITensor& input, nv::PoolingType type,
                                  const nv::Dims& windowSize) noexcept override;
  nv::IDeconvolutionLayer* addDeconvolutionNd(nv::ITensor& input, int64_t nbOutputMaps, const nv::Dims& kernelSize,
                                              nv::Weights kernelWeights, nv::Weights biasWeights) noexcept override;
  nv::IScaleLayer* addScaleNd(nv::ITensor& input, nv::ScaleMode mode, nv::Weights shift, nv::Weights scale,
                              nv::Weights power, int32_t channelAxis) noexcept override;
  nv::IResizeLayer* addResize(nv::ITensor& input) noexcept override;
  nv::ILoop* addLoop() noexcept override;
  nv::ISelectLayer* addSelect(nv::ITensor& condition, nv::ITensor& thenInput, nv::ITensor& elseInput) noexcept override;
  nv::IFillLayer* addFill(const nv::Dims& dimensions, nv::FillOperation op) noexcept override;
  nv::IPaddingLayer* addPaddingNd(nv::ITensor& input, const nv::Dims& prePadding,
                                  const nv::Dims& postPadding) noexcept override;
  bool setWeightsName(nv::Weights weights, const char* name) noexcept override;
  void setErrorRecorder(nv::IErrorRecorder* recorder) noexcept override;
  nv::IErrorRecorder* getErrorRecorder() const noexcept override;
  nv::IDequantizeLayer* addDequantize(nv::ITensor& input, nv::ITensor& scale) noexcept override;
  nv::IQuantizeLayer* addQuantize(nv::ITensor& input, nv::ITensor& scale) noexcept override;
  nv::IGatherLayer* addGatherV2(nv::ITensor& data, nv::ITensor& indices, nv::GatherMode mode) noexcept override;
  nv::IIfConditional* addIfConditional() noexcept override;
  nv::IScatterLayer* addScatter(nv::ITensor& data, nv::ITensor& indices, nv::ITensor& updates,
                                nv::ScatterMode mode) noexcept override;
  nv::IEinsumLayer* addEinsum(nv::ITensor* const* inputs, int32_t nbInputs, const char* equation) noexcept override;
  nv::IAssertionLayer* addAssertion(nv::ITensor& condition, const char* message) noexcept override;
  nv::IOneHotLayer* addOneHot(nv::ITensor& indices, nv::ITensor& values, nv::ITensor& depth,
                              int32_t axis) noexcept override;
  nv::INonZeroLayer* addNonZero(nv::ITensor& input) noexcept override;
  nv::IGridSampleLayer* addGridSample(nv::ITensor& input, nv::ITensor& grid) noexcept override;
  nv::INMSLayer* addNMS(nv::ITensor& boxes, nv::ITensor& scores, nv::ITensor& maxOutputBoxesPerClass) noexcept override;
  nv::IReverseSequenceLayer* addReverseSequence(nv::ITensor& input, nv::ITensor& sequenceLens) noexcept override;
  nv::INormalizationLayer* addNormalization(nv::ITensor& input, nv::ITensor& scale, nv::ITensor& bias,
                                            uint32_t axesMask) noexcept override;
  nv::ICastLayer* addCast(nv::ITensor& input, nv::DataType toType) noexcept override;
  nv::IBuilder& getBuilder() const noexcept override;
  nv::NetworkDefinitionCreationFlags getFlags() const noexcept override;
  bool getFlag(nv::NetworkDefinitionCreationFlag networkDefinitionCreationFlag) const noexcept override;
  nv::IQuantizeLayer* addQuantizeV2(nv::ITensor& input, nv::ITensor& scale, nv::DataType outputType) noexcept override;
  nv::IDequantizeLayer* addDequantizeV2(nv::ITensor& input, nv::ITensor& scale,
                                        nv::DataType outputType) noexcept override;
  nv::IFillLayer* addFillV2(const nv::Dims& dimensions, nv::FillOperation op,
                            nv::DataType outputType) noexcept override;
  bool markDebug(nv::ITensor& tensor) noexcept override;
  bool unmarkDebug(nv::ITensor& tensor) noexcept override;
  bool isDebugTensor(const nv::ITensor& tensor) const noexcept override;
  bool markWeightsRefittable(const char* name) noexcept override;
  bool unmarkWeightsRefittable(const char* name) noexcept override;
  bool areWeightsMarkedRefittable(const char* name) const noexcept override;
  nv::ISqueezeLayer* addSqueeze(nv::ITensor& input, nv::ITensor& axes) noexcept override;
  nv::IUnsqueezeLayer* addUnsqueeze(nv::ITensor& input, nv::ITensor& axes) noexcept override;
  nv::IDynamicQuantizeLayer* addDynamicQuantize(nv::ITensor& input, int32_t axis, int32_t blockSize,
                                                nv::DataType toType, nv::DataType scaleType) noexcept override;
  nv::ICumulativeLayer* addCumulative(nv::ITensor& input, nv::ITensor& axis, nv::CumulativeOperation operation,
                                      bool exclusive, bool reverse) noexcept override;
  bool markUnfusedTensorsAsDebugTensors() noexcept override;
  bool unmarkUnfusedTensorsAsDebugTensors() noexcept override;
  nv::ITopKLayer* addTopKV2(nv::ITensor& input, nv::TopKOperation op, int32_t k, uint32_t reduceAxes,
                            nv::DataType indicesType) noexcept override;
  nv::INonZeroLayer* addNonZeroV2(nv::ITensor& input, nv::DataType indicesType) noexcept override;
  nv::INMSLayer* addNMSV2(nv::ITensor& boxes, nv::ITensor& scores, nv::ITensor& maxOutputBoxesPerClass,
                          nv::DataType indicesType) noexcept override;
  nv::IAttention* addAttention(nv::ITensor& query, nv::ITensor& key, nv::ITensor& value,
                               nv::AttentionNormalizationOp normOp, bool isCausal) noexcept override;
  nv::IRotaryEmbeddingLayer* addRotaryEmbedding(nv::ITensor& input, nv::ITensor& cosCache, nv::ITensor& sinCache,
                                                bool interleaved, int32_t rotaryEmbeddingDim) noexcept override;
  nv::IDynamicQuantizeLayer* addDynamicQuantizeV2(nv::ITensor& input, const nv::Dims& blockShape, nv::DataType toType,
                                                  nv::DataType scaleType) noexcept override;
  nv::IKVCacheUpdateLayer* addKVCacheUpdate(nv::ITensor& cache, nv::ITensor& update, nv::ITensor& writeIndices,
                                            nv::KVCacheMode cacheMode) noexcept override;
  nv::INormalizationLayer* addNormalizationV2(nv::ITensor& input, nv::ITensor& scale, nv::ITensor& bias,
                                              uint32_t axesMask) noexcept override;
  nv::IMoELayer* addMoE(nv::ITensor& hiddenStates, nv::ITensor& selectedExpertsForTokens,
                        nv::ITensor& scoresForSelectedExperts) noexcept override;
  nv::IDistCollectiveLayer* addDistCollective(nv::ITensor& input, nv::CollectiveOperation distCollectiveOp,
                                              nv::ReduceOperation reduceOp, int64_t root, int64_t* groups,
                                              int64_t groupSize) noexcept override;

 private:
  Result<ir::NodeId> add_node(Op op, std::span<const ir::ValueId> inputs, Settings settings);
  void keep(ir::NodeId node, std::unique_ptr<Layer> object);
  const std::vector<ir::NodeId>& layers();
  void name_layer(ir::NodeId node);
  void name_tensor(ir::ValueId value);
  /// Slots that the API declares const hand out objects that are made when first asked for.
  Network& self() const { return const_cast<Network&>(*this); }
  Result<ir::ValueId> add_input(const char* name, nv::DataType type, const nv::Dims& dimensions);
  Status mark_output(const nv::ITensor& tensor);
  bool is_input_called(std::string_view name);
  std::vector<ir::NodeId> constants_at(const void* elements);
  bool is_hidden(ir::NodeId node) const { return ir::index(node) < hidden_.size() && hidden_[ir::index(node)]; }

  nv::IBuilder& builder_;
  Reporter reporter_;
  nv::NetworkDefinitionCreationFlags flags_;
  std::string name_;
  ir::Graph graph_;
  std::vector<bool> hidden_;  ///< by node: made by add_weights
  std::vector<ir::NodeId> layers_;
  int num_scanned_ = 0;  ///< nodes that `layers_` has taken in
  std::vector<std::unique_ptr<Layer>> layer_objects_;
  std::vector<std::unique_ptr<Tensor>> tensors_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<ir::ValueId> shape_outputs_;  ///< of markOutputForShapes
  std::set<ir::ValueId> debug_tensors_;     ///< of markDebug
  bool debugs_unfused_ = false;
  // Owners of names and addresses when they were taken in; how many values and nodes have been.
  std::unordered_multimap<std::string, ir::ValueId> inputs_by_name_;
  std::unordered_multimap<const void*, ir::NodeId> constants_by_elements_;
  int num_values_indexed_ = 0, num_nodes_indexed_ = 0;
};

}  // namespace kiln::api
