/// A network object as the parser sees it, which fills it without knowing its class.
#pragma once

#include <NvInfer.h>

#include <memory>
#include <span>
#include <string_view>

#include "api/base/report.h"
#include "base/address_of.h"
#include "ir/graph.h"
#include "ops/plugin.h"

namespace kiln::api {

/// The only class behind INetworkDefinition.
class NetworkHandle : public nvinfer1::INetworkDefinition {
 public:
  virtual ir::Graph& graph() = 0;
  virtual const Reporter& reporter() const = 0;
  /// The allocator that the program has set at the builder; null: it has set none.
  virtual nvinfer1::IGpuAllocator* gpu_allocator() const = 0;
  /// Whether an input of the plugin, behind inputs of types `before`, may be an INT32 and not an INT64. False for
  /// plugins that are none of the standard library's: a program's own get what the model has.
  virtual bool needs_int32(const ops::Plugin& op, std::span<const DType> before) const = 0;
  /// The object of a value, made when first asked for; it lives as long as the network.
  virtual nvinfer1::ITensor& tensor(ir::ValueId value) = 0;

  static NetworkHandle& of(nvinfer1::INetworkDefinition& network) { return static_cast<NetworkHandle&>(network); }
};

}  // namespace kiln::api
