/// Small networks, each with the parts of real ones that bring weights into another form.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/test_import.h"
#include "tensor/host_tensor.h"

namespace kiln {

/// A model as it is written node by node. Its weights are random numbers that the seed and their names decide.
class NetworkWriter {
 public:
  /// `kept`: names of weights that are those of the first seed.
  explicit NetworkWriter(uint64_t seed, std::vector<std::string> kept = {}) : seed_(seed), kept_(std::move(kept)) {}

  std::string input(std::string name, const Extents& extents, int64_t type = onnx::test::kFloat);
  /// Numbers in [low, high). Under the first seed, weights that are `like` others of their extents are equal to them.
  std::string weights(std::string name, const Extents& extents, double low = -0.5, double high = 0.5,
                      std::string_view like = {});
  std::string halves(std::string name, const Extents& extents);
  std::string numbers(std::string name, const Extents& extents, const std::vector<double>& values);
  std::string integers(std::string name, const std::vector<int64_t>& values);
  /// A node with one output.
  std::string node(std::string_view op, const std::vector<std::string>& inputs,
                   std::initializer_list<onnx::test::Proto> attributes = {});
  void output(std::string_view value);

  onnx::test::Proto model() const { return onnx::test::model(onnx::test::graph(parts_), {}, 20); }
  /// The weights, by name.
  const std::map<std::string, HostTensor, std::less<>>& given() const { return given_; }

 private:
  std::string add(std::string name, HostTensor value, int64_t type);

  std::vector<double> random_numbers(std::string_view name, int64_t count, double low, double high,
                                     std::string_view like = {}) const;

  const uint64_t seed_;
  const std::vector<std::string> kept_;
  int num_nodes_ = 0;
  onnx::test::GraphParts parts_;
  std::map<std::string, HostTensor, std::less<>> given_;
};

struct Network {
  std::string_view name;
  void (*write)(NetworkWriter&);
  std::vector<std::string> fixed = {};       ///< numbers that decide a rewrite, where the network is not refittable
  std::vector<std::string> attributes = {};  ///< numbers that an importer reads: every engine keeps them
  std::vector<std::string> in_steps = {};    ///< weights that may decide how a step works, in refittable engines too
};
const std::vector<Network>& networks();
/// Products with "first" and "second", which are equal under the first seed.
Network twins();
/// A product with "w", whose elements halves have exactly.
Network exact_halves();

}  // namespace kiln
