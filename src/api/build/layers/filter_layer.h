/// The common part of convolution and deconvolution layers: all but the order of their weights' axes.
#pragma once

#include <array>

#include "api/build/layers/layers.h"
#include "api/build/layers/window_fields.h"

namespace kiln::api {

/// Number of weights for one channel of the input; 0 where an int64 cannot count them.
inline int64_t elements_per_channel(int64_t outputs, const Extents& kernel) {
  Extents extents = kernel;
  extents.push_back(outputs);
  return checked_volume(extents).value_or(0);
}

/// Weights are constants that the layer makes; where the program gave none, setInput gives tensors instead.
/// `Axes::extents(count, outputs, groups, kernel)` are the extents of weights, empty where they do not fit;
/// `Axes::outputs(shape, groups)` is the number of output channels of weights of a shape.
template <class T, class Axes, nv::LayerType kType, class I, class V>
class FilterLayer final : public LayerOf<T, kType, I, V> {
  using Base = LayerOf<T, kType, I, V>;
  using Base::getName, Base::graph, Base::ir_node, Base::network, Base::op, Base::put_input, Base::reporter;

 public:
  FilterLayer(Network& network, ir::NodeId node) : Base(network, node) {
    if (const HostTensor* w = constant(1)) {  // a node that the parser made
      kernel_ = to_api(w);
      outputs_ = Axes::outputs(w->extents(), op().groups);
    }
    bias_ = to_api(constant(2));
  }

  Status start(int64_t outputs, const nv::Weights& kernel, const nv::Weights& bias) {
    outputs_ = outputs;
    kernel_ = kernel;
    bias_ = bias;
    return put_weights();
  }

  void setNbOutputMaps(int64_t nbOutputMaps) noexcept override {
    change("setNbOutputMaps", [&](T&) -> Status {
      TRY(require(nbOutputMaps >= 1, "nbOutputMaps is ", nbOutputMaps, "; 1 is the least"));
      outputs_ = nbOutputMaps;
      return {};
    });
  }
  int64_t getNbOutputMaps() const noexcept override { return outputs_; }
  void setNbGroups(int64_t nbGroups) noexcept override {
    change("setNbGroups", [&](T& op) -> Status {
      TRY(require(nbGroups >= 1, "nbGroups is ", nbGroups, "; 1 is the least"));
      op.groups = nbGroups;
      return {};
    });
  }
  int64_t getNbGroups() const noexcept override { return op().groups; }
  void setKernelWeights(nv::Weights weights) noexcept override {
    change("setKernelWeights", [&](T&) -> Status {
      TRY(check_weights(weights, "the weights"));
      kernel_ = weights;
      return {};
    });
  }
  nv::Weights getKernelWeights() const noexcept override { return kernel_; }
  void setBiasWeights(nv::Weights weights) noexcept override {
    change("setBiasWeights", [&](T&) -> Status {
      TRY(check_weights(weights, "the weights"));
      bias_ = weights;
      return {};
    });
  }
  nv::Weights getBiasWeights() const noexcept override { return bias_; }
  void setPrePadding(const nv::Dims& padding) noexcept override { set_list("setPrePadding", &T::pre_pads, padding, 0); }
  nv::Dims getPrePadding() const noexcept override { return window_list(op().pre_pads, axes(), 0); }
  void setPostPadding(const nv::Dims& padding) noexcept override {
    set_list("setPostPadding", &T::post_pads, padding, 0);
  }
  nv::Dims getPostPadding() const noexcept override { return window_list(op().post_pads, axes(), 0); }
  void setPaddingMode(nv::PaddingMode paddingMode) noexcept override {
    change("setPaddingMode", [&](T& op) -> Status {
      op.padding = TRY(enum_from_api<ops::PaddingMode>(paddingMode, "paddingMode"));
      return {};
    });
  }
  nv::PaddingMode getPaddingMode() const noexcept override { return to_api(op().padding); }
  void setKernelSizeNd(const nv::Dims& kernelSize) noexcept override {
    set_list("setKernelSizeNd", &T::kernel, kernelSize, 1);
  }
  nv::Dims getKernelSizeNd() const noexcept override { return to_api(kernel_size()); }
  void setStrideNd(const nv::Dims& stride) noexcept override { set_list("setStrideNd", &T::strides, stride, 1); }
  nv::Dims getStrideNd() const noexcept override { return window_list(op().strides, axes(), 1); }
  void setPaddingNd(const nv::Dims& padding) noexcept override {
    change("setPaddingNd", [&](T& op) -> Status {
      op.pre_pads = op.post_pads = TRY(numbers(padding, static_cast<int>(axes()), 0, "padding"));
      return {};
    });
  }
  nv::Dims getPaddingNd() const noexcept override { return getPrePadding(); }
  void setDilationNd(const nv::Dims& dilation) noexcept override {
    set_list("setDilationNd", &T::dilations, dilation, 1);
  }
  nv::Dims getDilationNd() const noexcept override { return window_list(op().dilations, axes(), 1); }

 private:
  const HostTensor* constant(int input) const {
    const ir::ValueId value = this->ir_node().input(input);
    return value != ir::ValueId::kNone ? graph().constant(value) : nullptr;
  }
  /// The kernel's size as stated, or that of the weights where a parsed model does not state it.
  Extents kernel_size() const {
    if (!op().kernel.empty()) return op().kernel;
    const HostTensor* const w = constant(1);
    return w && w->rank() > 2 ? Extents(w->extents().begin() + 2, w->extents().end()) : Extents();
  }
  size_t axes() const { return kernel_size().size(); }

  template <class F>
  void change(const char* call, F change_op) noexcept {
    guard(reporter(), call, [&]() -> Status {
      return in_context(changed(change_op), [&] { return str("layer '", getName(), "' (", T::name, ')'); });
    });
  }
  template <class F>
  Status changed(F change_op) {
    T copy = op();
    TRY(change_op(copy));
    graph().set_op(this->node(), std::move(copy));
    return put_weights();
  }
  void set_list(const char* call, std::vector<int64_t> T::*field, const nv::Dims& dims, int64_t least) noexcept {
    change(call, [&](T& op) -> Status {
      op.*field = TRY(numbers(dims, static_cast<int>(axes()), least, "the argument"));
      return {};
    });
  }

  /// Setters may leave weights that do not fit for a while; they then stand as a vector, which the op rejects.
  Status put_weights() {
    if (kernel_.count > 0) {
      Extents extents = Axes::extents(kernel_.count, outputs_, op().groups, kernel_size());
      if (extents.empty()) extents = {kernel_.count};
      TRY(put_one(1, kernel_, std::move(extents), "kernel"));
    } else if (network().is_weights(ir_node().inputs[1])) {
      TRY(put_one(1, kernel_, {}, "kernel"));
    }
    const bool had_bias = ir_node().inputs.size() > 2 && network().is_weights(ir_node().inputs[2]);
    return bias_.count > 0 || had_bias ? put_one(2, bias_, {bias_.count}, "bias") : Status();
  }
  Status put_one(int input, const nv::Weights& weights, Extents extents, const char* what) {
    const ir::ValueId before = this->ir_node().input(input);
    ir::ValueId value = ir::ValueId::kNone;
    if (weights.count > 0) {
      const HostTensor given = TRY(borrow(weights, std::move(extents), what));
      const DType type = weight_type(given.dtype());
      const HostTensor* const old = constant(input);
      const void*& source = sources_[static_cast<size_t>(input)];
      if (old && old->dtype() == type && old->extents() == given.extents() && source == weights.values) return {};
      value = network().add_weights(TRY(as_float_type(given, type)), str(getName(), ' ', what));
      source = weights.values;
    }
    put_input(input, value);
    network().drop_weights(before);
    return {};
  }
  /// A weakly typed network takes weights of any float type; the op wants its input's.
  DType weight_type(DType given) const {
    const auto x = graph().inferred_type(ir_node().inputs[0]);
    const bool convert = x && !network().strongly_typed() && is_float(given) && is_float(x->get().dtype);
    return convert ? x->get().dtype : given;
  }

  Status input_changed(int index) override { return index == 0 ? put_weights() : Status(); }
  Status check_input(int index) const override {
    TRY(require(index >= 0 && index <= 2, "index ", index, " is outside [0, 3) of layer '", getName(), "' (", T::name,
                ")"));
    const bool taken = (index == 1 && kernel_.count > 0) || (index == 2 && bias_.count > 0);
    return require(!taken, "layer '", getName(), "' has ", index == 1 ? "kernel" : "bias",
                   " weights; a tensor can take their place only if their count is 0");
  }

  int64_t outputs_ = 0;
  std::array<const void*, 3> sources_{};  ///< by input: the program's elements that its constant was made of
  nv::Weights kernel_{nv::DataType::kFLOAT, nullptr, 0}, bias_{nv::DataType::kFLOAT, nullptr, 0};
};

/// The rules of addConvolutionNd and addDeconvolutionNd; gives the kernel's extents.
inline Result<Extents> check_filter(Network& network, ir::ValueId x, int64_t outputs, const nv::Dims& kernel_size) {
  TRY(require(outputs >= 1, "nbOutputMaps is ", outputs, "; 1 is the least"));
  Extents kernel = TRY(numbers(kernel_size, -1, 1, "kernelSize"));
  TRY(require(kernel.size() == 2 || kernel.size() == 3, "kernelSize has ", kernel.size(),
              " numbers; 2 or 3 are possible"));
  const int rank = TRY(network.rank_of(x));
  TRY(require(rank == static_cast<int>(kernel.size()) + 2, "the input has rank ", rank, "; a kernel of ", kernel.size(),
              " axes needs rank ", kernel.size() + 2));
  TRY(require(elements_per_channel(outputs, kernel) > 0, "nbOutputMaps ", outputs, " and kernelSize ", kernel,
              " make more elements than an int64 counts"));
  return kernel;
}

/// Weights must be a whole number of `part`s, the least that any number of channels has; how many channels there are
/// may still depend on setNbGroups.
inline Status check_filter_weights(const nv::Weights& kernel_weights, const nv::Weights& bias, int64_t outputs,
                                   int64_t part) {
  TRY(check_weights(kernel_weights, "kernelWeights"));
  TRY(check_weights(bias, "biasWeights"));
  TRY(require(kernel_weights.count % part == 0, "kernelWeights have ", kernel_weights.count,
              " elements, no multiple of ", part));
  return require(bias.count == 0 || bias.count == outputs, "biasWeights have ", bias.count, " elements; there are ",
                 outputs, " output maps");
}

}  // namespace kiln::api
