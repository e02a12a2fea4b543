#include "ops/origin.h"

#include <algorithm>

#include "ops/shape.h"

namespace kiln {
namespace {

constexpr int kDeepest = 1000;  // walks and destructors recurse

}  // namespace

void fix(FixedSources& fixed, const OriginRef& origin, std::string_view why) {
  if (!origin) return;
  for (const std::string& source : origin->sources) fixed.emplace(source, why);
}

OriginRef source_origin(std::string name, const HostTensor& value) {
  Origin origin{.source = std::move(name), .op = {}, .inputs = {}, .dtype = value.dtype(), .extents = value.extents()};
  origin.sources = {origin.source};
  origin.hash = hash128(std::string_view(origin.source));
  return std::make_shared<const Origin>(std::move(origin));
}

OriginRef derived_origin(const Op& op, int output, std::vector<Origin::Input> inputs, const HostTensor& value) {
  const auto has_origin = [](const Origin::Input& input) { return input.origin != nullptr; };
  if (op.as<ops::Shape>() || std::ranges::none_of(inputs, has_origin)) return nullptr;
  Origin origin{.source = {},
                .op = op,
                .output = output,
                .inputs = std::move(inputs),
                .dtype = value.dtype(),
                .extents = value.extents()};
  for (const Origin::Input& input : origin.inputs)
    if (input.origin) origin.depth = std::max(origin.depth, input.origin->depth + 1);
  if (origin.depth > kDeepest) return nullptr;
  origin.hash = combine(hash128(op), hash128(std::string_view(str(output))));
  for (const Origin::Input& input : origin.inputs) {
    const Hash128 plain = input.present ? hash128(input.data) : Hash128{};
    origin.hash = combine(origin.hash, input.origin ? input.origin->hash : plain);
    if (!input.origin) continue;
    const std::vector<std::string>& more = input.origin->sources;
    origin.sources.insert(origin.sources.end(), more.begin(), more.end());
  }
  std::ranges::sort(origin.sources);
  origin.sources.erase(std::unique(origin.sources.begin(), origin.sources.end()), origin.sources.end());
  return std::make_shared<const Origin>(std::move(origin));
}

}  // namespace kiln
