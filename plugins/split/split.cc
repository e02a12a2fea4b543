// Split: parts of x, one behind the other along an axis.
//   in   x        floats
//   out  y ...    as x, of output_lengths along the axis
//   fields  axis. output_lengths. TensorRT's creator of it makes none: there the program's code had to.
#include <algorithm>
#include <numeric>

#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

class Split final : public StandardPlugin {
 public:
  Split(int axis, std::vector<int64_t> lengths) : axis_(axis), lengths_(std::move(lengths)) {}
  int num_outputs() const override { return static_cast<int>(lengths_.size()); }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    const auto rank = static_cast<int>(inputs[0].size());
    TRY(require(axis_ >= -rank && axis_ < rank, "axis is ", axis_, "; input 0 has rank ", rank));
    const auto axis = static_cast<size_t>(axis_ < 0 ? axis_ + rank : axis_);
    const int64_t total = std::accumulate(lengths_.begin(), lengths_.end(), int64_t{0});
    TRY(require_extent(inputs, 0, axis, total, "as output_lengths add up to"));
    std::vector<Shape> shapes(lengths_.size(), inputs[0]);
    for (size_t i = 0; i < shapes.size(); ++i) shapes[i][axis] = lengths_[i];
    return shapes;
  }
  std::vector<Value> add_layers(Layers&, std::span<const Value> inputs) const override {
    return plugins::split(inputs[0], axis_, lengths_);
  }

 private:
  int axis_;
  std::vector<int64_t> lengths_;
};

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  std::vector<int64_t> lengths = TRY(fields.integers("output_lengths"));
  TRY(require(!lengths.empty() && std::ranges::all_of(lengths, [](int64_t length) { return length >= 0; }),
              "output_lengths are missing or negative"));
  int64_t total = 0;
  for (const int64_t length : lengths)
    TRY(require(!__builtin_add_overflow(total, length, &total), "the sum of output_lengths exceeds 64 bits"));
  return std::make_shared<Split>(TRY(fields.int32("axis")), std::move(lengths));
}

}  // namespace

std::vector<Definition> split() {
  return {{.name = "Split",
           .version = "1",
           .generation = Generation::kV2,
           .fields = {field("axis", kInt), field("output_lengths", kInt)},
           .min_inputs = 1,
           .max_inputs = 1,
           .make = make}};
}

}  // namespace kiln::plugins
