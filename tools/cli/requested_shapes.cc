#include "requested_shapes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>

namespace kiln::cli {
namespace {

using Names = std::array<std::string_view, 3>;
using Shapes = std::array<NamedExtents, 3>;
constexpr Names kNames{"--minShapes", "--optShapes", "--maxShapes"};

NamedExtents shapes_of(const Arguments& arguments, std::string_view flag) {
  const std::string* value = arguments.find(flag);
  return value ? parse_shapes(*value, flag) : NamedExtents{};
}

/// Min, opt and max of each tensor. Shapes of one kind that are not given at all are those of another.
NamedRanges ranges_of(const Shapes& given, const Names& names, std::string_view where,
                      std::vector<std::string>& warnings) {
  static constexpr int kInstead[3][2] = {{1, 2}, {2, 0}, {1, 0}};
  std::array<size_t, 3> source{0, 1, 2};
  for (size_t i = 0; i < 3; ++i) {
    if (!given[i].empty()) continue;
    const int* instead = kInstead[i];
    source[i] = static_cast<size_t>(given[static_cast<size_t>(instead[0])].empty() ? instead[1] : instead[0]);
    if (!given[source[i]].empty())
      warnings.push_back(str(where, names[i], " is not given; ", names[source[i]], " stands for it"));
  }
  NamedRanges ranges;
  const EntryIndex<Extents> least(given[source[0]]), most(given[source[2]]);
  for (const auto& [name, opt] : given[source[1]]) {
    const Extents* min = least.find(name);
    const Extents* max = most.find(name);
    require(min, where, names[0], ": '", name, "' of ", names[source[1]], " is missing");
    require(max, where, names[2], ": '", name, "' of ", names[source[1]], " is missing");
    ranges.emplace_back(name, ShapeRange{*min, opt, *max});
  }
  std::unordered_set<std::string_view> known;
  for (const auto& [name, range] : ranges) known.insert(name);
  for (const size_t i : {size_t{0}, size_t{2}})
    for (const auto& [name, extents] : given[source[i]])
      require(known.contains(name), where, names[1], ": '", name, "' of ", names[i], " is missing");
  return ranges;
}

/// The build and the run take each other's shapes for tensors that their own flags don't name.
void share(NamedRanges& build, NamedExtents& run) {
  const NamedRanges built = build;
  const NamedExtents ran = run;
  const EntryIndex<Extents> run_index(ran);
  for (const auto& [name, range] : built)
    if (!run_index.find(name)) run.emplace_back(name, range.opt);
  const EntryIndex<ShapeRange> built_index(built);
  for (const auto& [name, shape] : ran)
    if (!built_index.find(name)) build.emplace_back(name, ShapeRange{shape, shape, shape});
}

Shapes given_shapes(const Arguments& arguments, const Names& names) {
  return {shapes_of(arguments, names[0]), shapes_of(arguments, names[1]), shapes_of(arguments, names[2])};
}

std::optional<size_t> kind_of(std::string_view flag) {
  const auto found = std::ranges::find(kNames, flag);
  return found == kNames.end() ? std::nullopt : std::optional(static_cast<size_t>(found - kNames.begin()));
}

/// The shapes behind each --profile=N, by N.
std::vector<NamedRanges> ranges_by_profile(const Arguments& arguments, std::vector<std::string>& warnings) {
  std::vector<std::optional<Shapes>> profiles;
  Shapes* last = nullptr;
  for (size_t i = 0; i < arguments.flags().size(); ++i) {
    const std::string_view flag = arguments.flags()[i]->name;
    const auto kind = kind_of(flag);
    if (flag == "--profile") {
      constexpr int64_t kMost = 1023;
      const int64_t index = parse_int(arguments.value(i), "--profile");
      require(index >= 0 && index <= kMost, "--profile: ", index, " is outside [0, ", kMost, "]");
      profiles.resize(std::max(profiles.size(), static_cast<size_t>(index) + 1));
      std::optional<Shapes>& profile = profiles[static_cast<size_t>(index)];
      require(!profile, "--profile=", index, " is given twice");
      last = &profile.emplace();
    } else if (kind) {
      require(last, flag, " stands in front of the first --profile=N, so that no profile has it");
      NamedExtents& shapes = (*last)[*kind];
      require(shapes.empty(), flag, " is given twice for one --profile=N");
      shapes = parse_shapes(arguments.value(i), flag);
    }
  }
  std::vector<NamedRanges> ranges;
  for (size_t i = 0; i < profiles.size(); ++i) {
    require(profiles[i].has_value(), "--profile=", i, " is missing: profiles are counted from 0 without gaps");
    ranges.push_back(ranges_of(*profiles[i], kNames, str("--profile=", i, ": "), warnings));
    require(!ranges.back().empty(), "--profile=", i,
            " has no shapes: --minShapes, --optShapes and --maxShapes follow it");
  }
  return ranges;
}

}  // namespace

RequestedShapes read_shapes(const Arguments& arguments, std::vector<std::string>& warnings) {
  RequestedShapes shapes{ranges_of(given_shapes(arguments, kNames), kNames, "", warnings),
                         shapes_of(arguments, "--shapes")};
  share(shapes.build, shapes.run);
  return shapes;
}

RequestedProfiles read_profiles(const Arguments& arguments, int used, std::vector<std::string>& warnings) {
  if (!arguments.has("--profile")) {
    for (const std::string_view flag : kNames)
      require(arguments.all(flag).size() <= 1, "flag ", flag, " is given twice; several profiles need --profile=N");
    RequestedShapes shapes = read_shapes(arguments, warnings);
    return {{std::move(shapes.build)}, std::move(shapes.run)};
  }
  RequestedProfiles profiles{ranges_by_profile(arguments, warnings), shapes_of(arguments, "--shapes")};
  if (static_cast<size_t>(used) < profiles.build.size()) share(profiles.build[static_cast<size_t>(used)], profiles.run);
  return profiles;
}

NamedRanges read_calibration_shapes(const Arguments& arguments) {
  constexpr Names kCalibration{"--minShapesCalib", "--optShapesCalib", "--maxShapesCalib"};
  const bool min = arguments.has(kCalibration[0]), opt = arguments.has(kCalibration[1]),
             max = arguments.has(kCalibration[2]);
  require(min == max && (opt || !min), "give --optShapesCalib alone, or all of --minShapesCalib, --optShapesCalib and ",
          "--maxShapesCalib");
  std::vector<std::string> ignored;  // one alone is what most give
  return ranges_of(given_shapes(arguments, kCalibration), kCalibration, "", ignored);
}

}  // namespace kiln::cli
