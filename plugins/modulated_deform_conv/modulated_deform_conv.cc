// ModulatedDeformConv2d: a convolution whose element (i, j) of the kernel reads, for output (h, w), what is at row
// h stride - padding + i dilation + offset_y and column w stride - padding + j dilation + offset_x, times a mask.
// Pixels are interpolated linearly; those outside of the image are 0.
//   in   x        floats [N, C, H, W]
//        offset   [N, 2 G kh kw, H', W']: for each of G deformable groups and each element of the kernel, y and x
//        mask     [N, G kh kw, H', W']
//        weight   [O, C / groups, kh, kw]
//        bias     [O], optional
//   out  y        [N, O, H', W']
//   fields  stride, padding, dilation  two numbers each: the first is that of columns (the width), the second that of
//           rows (the height), as TensorRT's kernel reads them. group. deformable_group  G
#include <array>

#include "library/sampling.h"
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

using Pair = std::array<int64_t, 2>;
struct Settings {
  // The number of rows, then that of columns.
  Pair stride{1, 1}, padding{0, 0}, dilation{1, 1};
  int64_t groups = 1, deformable_groups = 1;
};

class ModulatedDeformConv final : public StandardPlugin {
 public:
  explicit ModulatedDeformConv(const Settings& settings) : settings_(settings) {}
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    for (size_t i = 0; i < 4; ++i) TRY(require_rank(inputs, i, 4));
    for (const size_t i : {1U, 2U}) TRY(require_equal(inputs, 0, 0, i, 0));
    const int64_t deformable = settings_.deformable_groups, groups = settings_.groups;
    const Dim elements = inputs[3][2] * inputs[3][3];
    TRY(require_equal(inputs[1][1], elements * (2 * deformable),
                      "axis 1 of input 1 has to be 2 deformable_group times the kernel's size"));
    TRY(require_equal(inputs[2][1], elements * deformable,
                      "axis 1 of input 2 has to be deformable_group times the kernel's size"));
    TRY(require_divisible(inputs, 0, 1, deformable, "as deformable_group says"));
    TRY(require_divisible(inputs, 3, 0, groups, "as group says"));
    TRY(require_equal(inputs[3][1] * groups, inputs[0][1],
                      "group times axis 1 of input 3 has to be axis 1 of input 0"));
    for (const size_t axis : {2U, 3U}) {
      TRY(require_equal(inputs, 1, axis, 2, axis));
      TRY(require_places(inputs, axis - 2));
    }
    if (inputs.size() == 5) {
      TRY(require_rank(inputs, 4, 1));
      TRY(require_equal(inputs, 3, 0, 4, 0));
    }
    return std::vector<Shape>{{inputs[0][0], inputs[3][0], inputs[1][2], inputs[1][3]}};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override;

 private:
  /// Fails where the convolution has another number of rows (axis 0) or columns than there are offsets for.
  Status require_places(std::span<const Shape> inputs, size_t axis) const;
  Value places(Layers& layers, const Value& offset, const Value& weight, size_t axis) const;
  Settings settings_;
};

Status ModulatedDeformConv::require_places(std::span<const Shape> inputs, size_t axis) const {
  const Dim &from = inputs[0][axis + 2], &kernel = inputs[3][axis + 2];
  const Dim room = from + 2 * settings_.padding[axis] - (kernel - 1) * settings_.dilation[axis] - 1;
  return require_equal(inputs[1][axis + 2], max(room / settings_.stride[axis] + 1, 0),
                       str("axis ", axis + 2, " of input 1 has to have an offset for each ",
                           axis == 0 ? "row" : "column", " of the convolution"));
}

/// Rows (axis 0) or columns that are read, [N, G, kh, kw, H', W'].
Value ModulatedDeformConv::places(Layers& layers, const Value& offset, const Value& weight, size_t axis) const {
  const Extent rows = weight.extent(2), columns = weight.extent(3);
  const Extent height = offset.extent(2), width = offset.extent(3);
  const Value moved =
      pick(reshape(offset, {offset.extent(0), settings_.deformable_groups, rows, columns, 2, height, width}), 4,
           static_cast<int64_t>(axis));
  const Value output = layers.iota(axis == 0 ? height : width, nv::DataType::kFLOAT);
  const Value element = layers.iota(axis == 0 ? rows : columns, nv::DataType::kFLOAT);
  const auto stride = static_cast<double>(settings_.stride[axis]),
             dilation = static_cast<double>(settings_.dilation[axis]);
  const Value start = output * stride - static_cast<double>(settings_.padding[axis]);
  return moved + (axis == 0 ? unsqueeze(start, {1}) : start) +
         unsqueeze(element * dilation, axis == 0 ? Axes{1, 2, 3} : Axes{1, 2});
}

std::vector<Value> ModulatedDeformConv::add_layers(Layers& layers, std::span<const Value> inputs) const {
  const Value x = inputs[0].f32(), offset = inputs[1].f32(), mask = inputs[2].f32(), weight = inputs[3].f32();
  const int64_t deformable = settings_.deformable_groups, groups = settings_.groups;
  const Extent batch = x.extent(0), channels = x.extent(1), height = offset.extent(2), width = offset.extent(3);
  const Extent size = weight.extent(2) * weight.extent(3), outputs = height * width, images = batch * deformable;
  const Extent share = channels / deformable;
  const Value pixels = transpose(reshape(x, {images, share, x.extent(2) * x.extent(3)}), {0, 2, 1});
  const Samples from{pixels, i32_of(layers, x.extent(2)), i32_of(layers, x.extent(3)), {}};
  const auto flat = [&](size_t axis) {
    return reshape(places(layers, offset, weight, axis), {images, size * outputs});
  };
  const Value sampled = bilinear(from, flat(0), flat(1)) * reshape(mask, {images, size * outputs, 1});
  const Value columns = transpose(reshape(sampled, {images, size, outputs, share}), {0, 3, 1, 2});
  const Extent depth = channels / groups * size, filters = weight.extent(0) / groups;
  const Value product =
      matmul(reshape(weight, {1, groups, filters, depth}), reshape(columns, {batch, groups, depth, outputs}));
  const Value y = reshape(product, {batch, weight.extent(0), height, width});
  return {inputs.size() == 5 ? y + unsqueeze(inputs[4].f32(), {1, 2}) : y};
}

/// The numbers of rows and columns, which the field has in the other order.
Result<Pair> pair_of(const Fields& fields, std::string_view name, int64_t otherwise, int64_t least) {
  const std::vector<int64_t> numbers = TRY(fields.integers(name));
  if (numbers.empty()) return Pair{otherwise, otherwise};
  TRY(require(numbers.size() == 2 && numbers[0] >= least && numbers[1] >= least, "field '", name, "' has ",
              numbers.size(), " numbers; two of ", least, " at least are needed"));
  return Pair{numbers[1], numbers[0]};
}

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  Settings settings;
  settings.stride = TRY(pair_of(fields, "stride", 1, 1));
  settings.padding = TRY(pair_of(fields, "padding", 0, 0));
  settings.dilation = TRY(pair_of(fields, "dilation", 1, 1));
  settings.groups = TRY(fields.integer("group", 1));
  settings.deformable_groups = TRY(fields.integer("deformable_group", 1));
  TRY(require(settings.groups > 0 && settings.deformable_groups > 0, "group is ", settings.groups,
              ", deformable_group ", settings.deformable_groups));
  return std::make_shared<ModulatedDeformConv>(settings);
}

}  // namespace

std::vector<Definition> modulated_deform_conv() {
  const std::vector<nv::PluginField> fields = {field("stride", kInt), field("padding", kInt), field("dilation", kInt),
                                               field("group", kInt), field("deformable_group", kInt)};
  return {{.name = "ModulatedDeformConv2d",
           .version = "1",
           .generation = Generation::kV2,
           .fields = fields,
           .min_inputs = 4,
           .max_inputs = 5,
           .make = make},
          {.name = "ModulatedDeformConv2d",
           .version = "2",
           .generation = Generation::kV3,
           .fields = fields,
           .min_inputs = 4,
           .max_inputs = 5,
           .make = make}};
}

}  // namespace kiln::plugins
