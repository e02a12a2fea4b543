// VoxelGeneratorPlugin, of PointPillars: points gathered in voxels of a grid seen from above, so that z is not divided.
//   in   points  f32 [N, M, F]: x, y, z and 1 or 2 numbers more
//        count   i32 [N]: of points that are valid, which come first
//   out  voxels  f32 [N, V, P, C]: the points of each voxel, P at most; 0 behind them
//        places  i32 [N, V, 4]: 0, 0, row, column of each voxel; 0 behind them
//        count   i32 [N]: of voxels that have points, V at most
// A point in the range, whose ends in x, y and z are not part of it, is in column floor((x - x_min) / x size), rows
// likewise; the grid has (x_max - x_min) / x size columns, rounded, and what is behind the last is out of range. Of a
// point in a voxel there are the first C of: its F numbers; x, y, z less the mean of those of the voxel's points here;
// x, y, z less those of the voxel's middle. Voxels stand row by row, and their points in the order of the input.
// TensorRT's have no order, and no last number if F is 5 and C 11.
//   fields  max_num_points_per_voxel (P, 64 at most), max_voxels (V). voxel_feature_num (C). voxel_size  in x, y, z.
//           point_cloud_range  least x, y, z, greatest x, y, z
#include <cmath>
#include <cstdint>

#include "library/entry.h"
#include "library/sampling.h"
#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

struct Settings {
  int64_t most_points = 0, most_voxels = 0, num_features = 0;
  std::vector<double> size, range;
  int64_t columns = 0, rows = 0;
};

class VoxelGenerator final : public StandardPlugin {
 public:
  explicit VoxelGenerator(Settings settings) : settings_(std::move(settings)) {}
  int num_outputs() const override { return 3; }
  bool takes(nv::DataType type, std::span<const nv::DataType> before) const override {
    return type == (before.empty() ? nv::DataType::kFLOAT : nv::DataType::kINT32);
  }
  Types output_types(std::span<const nv::DataType>) const override {
    return {nv::DataType::kFLOAT, nv::DataType::kINT32, nv::DataType::kINT32};
  }
  Result<std::vector<Shape>> output_shapes(std::span<const Shape> inputs) const override {
    TRY(require_rank(inputs, 0, 3));
    TRY(require_rank(inputs, 1, 1));
    TRY(require_equal(inputs, 0, 0, 1, 0));
    const int64_t numbers = inputs[0][2].number().value_or(-1);
    TRY(require(numbers == 4 || numbers == 5, "points have ", numbers, " numbers each; 4 or 5 are needed"));
    TRY(require(settings_.num_features <= numbers + 6, "voxel_feature_num is ", settings_.num_features, "; there are ",
                numbers + 6));
    const Dim batch = inputs[0][0];
    const int64_t voxels = settings_.most_voxels;
    return std::vector<Shape>{
        {batch, voxels, settings_.most_points, settings_.num_features}, {batch, voxels, 4}, {batch}};
  }
  std::vector<Value> add_layers(Layers& layers, std::span<const Value> inputs) const override;

 private:
  Value voxels_of(const Value& points, const Value& count) const;
  std::vector<Value> members(const Value& voxels) const;
  Value features(const Value& points, const Value& exists, const Value& row, const Value& column) const;
  int64_t num_places() const { return settings_.columns * settings_.rows; }
  Settings settings_;
};

/// The voxel of each point, i32 [N, M]; behind all voxels, each at its own place, for points out of range.
Value VoxelGenerator::voxels_of(const Value& points, const Value& count) const {
  Layers& layers = points.layers();
  const std::vector<Value> xyz{pick(points, 2, 0), pick(points, 2, 1), pick(points, 2, 2)};
  const Value index = unsqueeze(layers.iota(points.extent(1), nv::DataType::kINT32), {0});
  Value is_inside = index < unsqueeze(count, {1});
  for (size_t axis = 0; axis < 3; ++axis)
    is_inside = is_inside && (xyz[axis] >= settings_.range[axis]) && (xyz[axis] < settings_.range[axis + 3]);
  const auto cell = [&](size_t axis) {
    return floor((xyz[axis] - settings_.range[axis]) / settings_.size[axis]).i32();
  };
  const Value column = cell(0), row = cell(1);
  is_inside =
      is_inside && (column < static_cast<double>(settings_.columns)) && (row < static_cast<double>(settings_.rows));
  return select(is_inside, row * static_cast<double>(settings_.columns) + column,
                index + static_cast<double>(num_places()));
}

/// The first point of each voxel, the second, ...: P of i32 [N, voxels + M], the number of points where there is none.
std::vector<Value> VoxelGenerator::members(const Value& voxels) const {
  Layers& layers = voxels.layers();
  const Extent batch = voxels.extent(0), count = voxels.extent(1);
  const Value index = unsqueeze(layers.iota(count, nv::DataType::kINT32), {0});
  const Value indices = broadcast(index, {batch, count});
  const Value none = broadcast(i32_of(layers, count), {batch, count + num_places()});
  const Value behind = index + static_cast<double>(num_places());
  std::vector<Value> result;
  Value left = voxels;  // points that are none of the result yet, the others behind all voxels
  for (int64_t i = 0; i < settings_.most_points; ++i) {
    result.push_back(scatter_reduced(none, left, indices, 1, kKilnMinimum));
    left = select(gather_elements(result.back(), left, 1) == index, behind, left);
  }
  return result;
}

/// [N, V, P, C]. points [N, V, P, F], of which `exists` [N, V, P, 1] tells those that are there; f32 [N, V, 1, 1].
Value VoxelGenerator::features(const Value& points, const Value& exists, const Value& row, const Value& column) const {
  const Value xyz = slice(points, 3, 0, 3);
  const Value mean = sum(xyz, {2}) / max(sum(exists.f32(), {2}), 1.0);
  const auto middle = [&](size_t axis) { return settings_.size[axis] / 2 + settings_.range[axis]; };
  const Value x = column * settings_.size[0] + middle(0), y = row * settings_.size[1] + middle(1);
  const Value z = broadcast(points.layers().scalar(middle(2), nv::DataType::kFLOAT, 4), x.extents());
  const Value all = concat({points, xyz - mean, xyz - concat({x, y, z}, 3)}, 3);
  return select(exists, slice(all, 3, 0, settings_.num_features), 0);
}

std::vector<Value> VoxelGenerator::add_layers(Layers& layers, std::span<const Value> inputs) const {
  const Value& points = inputs[0];
  const Extent batch = points.extent(0), num_points = points.extent(1);
  const auto most = static_cast<double>(settings_.most_voxels), columns = static_cast<double>(settings_.columns);
  const std::vector<Value> of_voxels = members(voxels_of(points, inputs[1]));
  const Value none = i32_of(layers, num_points);
  // Voxels with points go to the front, those that find no room behind the others.
  const Value is_used = (slice(of_voxels[0], 1, 0, num_places()) < none).i32();  // [N, voxels]
  const Value number = cumulative_sum(is_used, 1) - 1.0;
  const Value place = select((is_used > 0.0) && (number < most), number, layers.scalar(most, nv::DataType::kINT32, 2));
  const Value all = broadcast(unsqueeze(layers.iota(num_places(), nv::DataType::kINT32), {0}), {batch, num_places()});
  const Value zero = layers.full({batch, settings_.most_voxels + 1}, 0, nv::DataType::kINT32);
  const Value voxel = slice(scatter_elements(zero, place, all, 1), 1, 0, settings_.most_voxels);  // [N, V]
  const Value count = min(sum(is_used, {1}), most);
  const Value is_valid = unsqueeze(layers.iota(settings_.most_voxels, nv::DataType::kINT32), {0}) < count;

  std::vector<Value> found;
  for (const Value& of_voxel : of_voxels)
    found.push_back(unsqueeze(select(is_valid, gather_elements(of_voxel, voxel, 1), none), {2}));
  const Value indices = concat(found, 2);  // [N, V, P]
  // Behind the points there is one of zeros, for indices without a point.
  const Value padded = concat({points, layers.full({batch, 1, points.extent(2)}, 0, nv::DataType::kFLOAT)}, 1);
  const Value gathered = gather_nd(padded, unsqueeze(indices, {3}), 1);
  const Value row = floor_div(voxel, columns), column = voxel - row * columns;
  const Value exists = unsqueeze(indices < unsqueeze(none, {0}), {3});
  const Value voxels = features(gathered, exists, unsqueeze(row.f32(), {2, 3}), unsqueeze(column.f32(), {2, 3}));
  const Value origin = layers.full({batch, settings_.most_voxels, 2}, 0, nv::DataType::kINT32);
  return {voxels, concat({origin, unsqueeze(row, {2}), unsqueeze(column, {2})}, 2), squeeze(count, {1})};
}

/// A run has lists of them for each point that a voxel may have: 64 of 64 MiB.
constexpr int64_t kMostVoxels = 1 << 24;

Result<std::shared_ptr<const StandardPlugin>> make(const Fields& fields) {
  Settings settings;
  settings.most_points = TRY(fields.integer("max_num_points_per_voxel"));
  settings.most_voxels = TRY(fields.integer("max_voxels"));
  settings.num_features = TRY(fields.integer("voxel_feature_num"));
  settings.size = TRY(fields.numbers("voxel_size"));
  settings.range = TRY(fields.numbers("point_cloud_range"));
  TRY(require(settings.size.size() == 3 && settings.range.size() == 6, "voxel_size has ", settings.size.size(),
              " numbers, point_cloud_range ", settings.range.size(), "; 3 and 6 are needed"));
  TRY(require(settings.most_points > 0 && settings.most_points <= 64 && settings.most_voxels > 0 &&
                  settings.most_voxels <= kMostVoxels && settings.num_features > 0,
              "max_num_points_per_voxel is ", settings.most_points, ", max_voxels ", settings.most_voxels,
              ", voxel_feature_num ", settings.num_features, "; 1 to 64, 1 to ", kMostVoxels,
              ", and 1 at least are possible"));
  const auto cells = [&](size_t axis) {
    const double length = settings.range[axis + 3] - settings.range[axis];
    return std::nearbyint(static_cast<float>(length) / static_cast<float>(settings.size[axis]));
  };
  const double columns = cells(0), rows = cells(1);
  TRY(require(columns >= 1 && rows >= 1 && columns * rows <= kMostVoxels, "point_cloud_range has ", columns, " x ",
              rows, " voxels of voxel_size; 1 at least and ", kMostVoxels, " at most are possible"));
  settings.columns = static_cast<int64_t>(columns), settings.rows = static_cast<int64_t>(rows);
  return std::make_shared<VoxelGenerator>(std::move(settings));
}

}  // namespace

std::vector<Definition> voxel_generator() {
  return {
      {.name = "VoxelGeneratorPlugin",
       .version = "1",
       .generation = Generation::kV2,
       .fields = {field("max_num_points_per_voxel", kInt), field("max_voxels", kInt),
                  field("point_cloud_range", kFloat), field("voxel_feature_num", kInt), field("voxel_size", kFloat)},
       .min_inputs = 2,
       .max_inputs = 2,
       .make = make}};
}

}  // namespace kiln::plugins
