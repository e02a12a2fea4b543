#include "requested_shapes.h"

#include <unordered_set>

namespace kiln::cli {
namespace {

NamedExtents shapes_of(const Arguments& arguments, std::string_view flag) {
  const std::string* value = arguments.find(flag);
  return value ? parse_shapes(*value, flag) : NamedExtents{};
}

/// Min, opt and max of each tensor.
NamedRanges read_ranges(const Arguments& arguments, std::vector<std::string>& warnings) {
  static constexpr std::string_view kNames[] = {"--minShapes", "--optShapes", "--maxShapes"};
  static constexpr int kInstead[3][2] = {{1, 2}, {2, 0}, {1, 0}};
  const NamedExtents given[] = {shapes_of(arguments, kNames[0]), shapes_of(arguments, kNames[1]),
                                shapes_of(arguments, kNames[2])};
  int source[3] = {0, 1, 2};
  for (int i = 0; i < 3; ++i) {
    if (!given[i].empty()) continue;
    const int* instead = kInstead[i];
    source[i] = given[instead[0]].empty() ? instead[1] : instead[0];
    if (!given[source[i]].empty())
      warnings.push_back(str(kNames[i], " is not given; ", kNames[source[i]], " stands for it"));
  }
  NamedRanges ranges;
  const EntryIndex<Extents> least(given[source[0]]), most(given[source[2]]);
  for (const auto& [name, opt] : given[source[1]]) {
    const Extents* min = least.find(name);
    const Extents* max = most.find(name);
    require(min, kNames[0], ": '", name, "' of ", kNames[source[1]], " is missing");
    require(max, kNames[2], ": '", name, "' of ", kNames[source[1]], " is missing");
    ranges.emplace_back(name, ShapeRange{*min, opt, *max});
  }
  std::unordered_set<std::string_view> known;
  for (const auto& [name, range] : ranges) known.insert(name);
  for (int i : {0, 2})
    for (const auto& [name, extents] : given[source[i]])
      require(known.contains(name), kNames[1], ": '", name, "' of ", kNames[i], " is missing");
  return ranges;
}

}  // namespace

RequestedShapes read_shapes(const Arguments& arguments, std::vector<std::string>& warnings) {
  const NamedRanges built = read_ranges(arguments, warnings);
  const NamedExtents run = shapes_of(arguments, "--shapes");
  RequestedShapes shapes{built, run};
  const EntryIndex<Extents> run_index(run);
  for (const auto& [name, range] : built)
    if (!run_index.find(name)) shapes.run.emplace_back(name, range.opt);
  const EntryIndex<ShapeRange> built_index(built);
  for (const auto& [name, shape] : run)
    if (!built_index.find(name)) shapes.build.emplace_back(name, ShapeRange{shape, shape, shape});
  return shapes;
}

}  // namespace kiln::cli
