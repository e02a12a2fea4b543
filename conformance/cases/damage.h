/// Steps of plans as engines load them, and what a damaged plan may say of them.
#pragma once

#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "builder/build.h"
#include "ir/graph.h"
#include "steps/executor.h"

namespace kiln {

/// A step as an engine loads and binds it.
struct Sample {
  StepSpec spec;
  bool is_read = true;                ///< false: who reads a plan refuses its fields
  std::vector<HostTensor> constants;  ///< of no elements' type where an input is none
  std::vector<bool> is_constant;
  std::vector<Extents> inputs, outputs;
  std::vector<int64_t> params;
};

/// The steps of a network's plan, whose extents are numbers; `plans` keeps what they refer to.
Status add_samples(const ir::Graph& graph, Backend& backend, const BuildRequest& request,
                   std::vector<std::shared_ptr<plan::Plan>>& plans, std::vector<Sample>& samples);

/// softmax(q k^T) v and a product with a constant. Of `bytes` q, k, v and the softmax's result are dequantized.
Result<ir::Graph> attention_network(DType dtype, std::optional<DType> bytes = {});

/// Damages samples, the same way for the same seed.
class Damage {
 public:
  /// `on_host`: memory of the host grows with extents, of every kernel, so they stay small.
  Damage(uint32_t seed, const std::vector<Sample>& others, bool on_host)
      : random_(seed), others_(others), on_host_(on_host) {}

  /// One change of anything that a plan says of a step. What the plan's own validation refuses is not among them.
  void change(Sample& s);

 private:
  size_t below(size_t n) { return n == 0 ? 0 : std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  int64_t number(int64_t before);
  void change(std::vector<int64_t>& numbers);
  Datum changed(const Datum& datum);
  void change(Record& record);
  void change_step(Sample& s);
  void change_list(Sample& s);
  std::pair<StepTensor*, Extents*> tensor(Sample& s, size_t& input);
  void change_tensor(Sample& s);
  void change_extent(Sample& s);
  void fit_constant(Sample& s, size_t input);
  void change_binary(Sample& s);

  std::mt19937 random_;
  const std::vector<Sample>& others_;
  const bool on_host_;
  Bytes bytes_;
};

}  // namespace kiln
