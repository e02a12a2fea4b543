/// The times of layers, as a context reports them query by query.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "NvInferRuntime.h"

namespace kiln::cli {

class LayerProfile final : public nvinfer1::IProfiler {
 public:
  struct Layer {
    std::string name;
    std::vector<double> times_ms;  ///< one a query
    double total_ms() const;
  };

  /// A query reports its layers in one order, always the same; the first layer's name begins the next query.
  void reportLayerTime(char const* name, float ms) noexcept override;

  void clear();
  std::vector<std::string> lines() const;  ///< a table
  std::string json() const;
  static constexpr std::string_view kJsonBegins = "[{\"count\":", kJsonHas = "\"averageMs\":";  ///< without spaces
  const std::vector<Layer>& layers() const { return layers_; }
  int num_queries() const { return num_queries_; }

 private:
  double total_ms() const;
  double median_query_ms() const;

  std::vector<Layer> layers_;
  size_t next_ = 0;
  int num_queries_ = 0;
};

}  // namespace kiln::cli
