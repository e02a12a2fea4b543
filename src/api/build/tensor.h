/// A value of a network's graph as the program sees it.
#pragma once

#include <NvInfer.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "api/base/guard.h"
#include "ir/graph.h"

namespace kiln::api {

namespace nv = nvinfer1;
class Network;

class Tensor final : public nv::ITensor, public nv::apiv::VTensor {
 public:
  Tensor(Network& network, ir::ValueId value);
  ir::ValueId value() const { return value_; }
  const Network& network() const { return network_; }
  /// Extents of an input, -1 where a symbol is to stand.
  void set_extents(std::span<const int64_t> extents);
  /// Type that setType asked for of a tensor that is not an input, or of an input that layers read already: these were
  /// added for the type that it had, and a weakly typed network converts.
  std::optional<DType> wanted_type() const { return wanted_type_; }

  void setName(const char* name) noexcept override;
  const char* getName() const noexcept override;
  void setDimensions(const nv::Dims& dimensions) noexcept override;
  nv::Dims getDimensions() const noexcept override;
  void setType(nv::DataType type) noexcept override;
  nv::DataType getType() const noexcept override;
  bool setDynamicRange(float min, float max) noexcept override;
  bool isNetworkInput() const noexcept override;
  bool isNetworkOutput() const noexcept override;
  void setBroadcastAcrossBatch(bool broadcastAcrossBatch) noexcept override;
  bool getBroadcastAcrossBatch() const noexcept override;
  nv::TensorLocation getLocation() const noexcept override;
  void setLocation(nv::TensorLocation location) noexcept override;
  bool dynamicRangeIsSet() const noexcept override;
  void resetDynamicRange() noexcept override;
  float getDynamicRangeMin() const noexcept override;
  float getDynamicRangeMax() const noexcept override;
  void setAllowedFormats(nv::TensorFormats formats) noexcept override;
  nv::TensorFormats getAllowedFormats() const noexcept override;
  bool isShapeTensor() const noexcept override;
  bool isExecutionTensor() const noexcept override;
  void setDimensionName(int32_t index, const char* name) noexcept override;
  const char* getDimensionName(int32_t index) const noexcept override;

 private:
  bool is_input() const;
  void set_type_of_input(TensorType type);
  Status set_dimension_name(int32_t index, const char* name);

  Network& network_;
  const ir::ValueId value_;
  std::string name_;  ///< getName's answer; the graph's own text may move
  std::optional<DType> wanted_type_;
  std::optional<std::pair<float, float>> dynamic_range_;
  nv::TensorLocation location_ = nv::TensorLocation::kDEVICE;
  nv::TensorFormats allowed_formats_;
  std::map<int32_t, std::string> dimension_names_;  ///< getDimensionName's answers
};

}  // namespace kiln::api
