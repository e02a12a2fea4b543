#include "tactics/frontier.h"

#include <algorithm>
#include <iterator>

namespace kiln {
namespace {

uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// The share of an item in a key: the order of adding does not show.
FrontierKey share_of(uint64_t part, uint64_t item) {
  const uint64_t low = mixed(item + (part + 1) * 0x9E3779B97F4A7C15u);
  return {low, mixed(low ^ (item << 2 | part))};
}

uint64_t number_of(Want want) {
  return static_cast<uint64_t>(static_cast<uint32_t>(want.value)) << 32 | static_cast<uint32_t>(want.format);
}

bool has(std::span<const Want> ascending, Want want) { return std::ranges::binary_search(ascending, want); }

std::span<const Want> range_of(std::span<const Want> ascending, ir::ValueId value) {
  const auto found = std::ranges::equal_range(ascending, value, {}, &Want::value);
  return {found.begin(), found.end()};
}

}  // namespace

bool CommonWants::contains(Want want) const {
  return std::ranges::find(formats_[ir::index(want.value)], want.format) != formats_[ir::index(want.value)].end();
}

void Frontier::include(Part part, uint64_t item) {
  const FrontierKey share = share_of(static_cast<uint64_t>(part), item);
  key_.low += share.low;
  key_.high += share.high;
}
void Frontier::exclude(Part part, uint64_t item) {
  const FrontierKey share = share_of(static_cast<uint64_t>(part), item);
  key_.low -= share.low;
  key_.high -= share.high;
}
void Frontier::exclude(Want want) { exclude(Part::kWant, number_of(want)); }

bool Frontier::claims(uint32_t position) const { return std::ranges::binary_search(claimed_, position); }

void Frontier::claim(std::span<const uint32_t> positions) {
  for (const uint32_t position : positions) include(Part::kClaim, position);
  const auto middle = static_cast<ptrdiff_t>(claimed_.size());
  claimed_.insert(claimed_.end(), positions.begin(), positions.end());
  std::inplace_merge(claimed_.begin(), claimed_.begin() + middle, claimed_.end());
}

void Frontier::drop_last_claim() {
  exclude(Part::kClaim, claimed_.back());
  claimed_.pop_back();
}

bool Frontier::wants(Want want, const CommonWants& common) const {
  return has(own_, want) || common.contains(want) ||
         std::ranges::any_of(many_, [&](const ManyWants* many) { return has(many->wants, want); });
}

bool Frontier::wants(ir::ValueId value, const CommonWants& common) const {
  return !common.of(value).empty() || !range_of(own_, value).empty() ||
         std::ranges::any_of(many_, [&](const ManyWants* many) { return !range_of(many->wants, value).empty(); });
}

std::vector<int> Frontier::formats_of(ir::ValueId value, const CommonWants& common) const {
  std::vector<int> formats(common.of(value).begin(), common.of(value).end());
  const auto add = [&](std::span<const Want> ascending) {
    for (const Want& want : range_of(ascending, value)) formats.push_back(want.format);
  };
  add(own_);
  for (const ManyWants* many : many_) add(many->wants);
  std::ranges::sort(formats);
  formats.erase(std::unique(formats.begin(), formats.end()), formats.end());
  return formats;
}

void Frontier::add(Want want) {
  include(Part::kWant, number_of(want));
  own_.insert(std::ranges::lower_bound(own_, want), want);
}

void Frontier::add(const ManyWants& many) {
  std::erase_if(own_, [&](const Want& want) {
    const bool covered = has(many.wants, want);
    if (covered) exclude(want);
    return covered;
  });
  include(Part::kMany, many.id);
  many_.push_back(&many);
}

void Frontier::drop(ir::ValueId value) {
  const auto met = std::ranges::equal_range(own_, value, {}, &Want::value);
  for (const Want& want : met) exclude(want);
  own_.erase(met.begin(), met.end());
}

void Frontier::drop_met(uint32_t position) {
  std::erase_if(many_, [&](const ManyWants* many) {
    const bool met = many->last_position >= position;
    if (met) exclude(Part::kMany, many->id);
    return met;
  });
}

void Frontier::drop(std::span<const Want> common) {
  for (const Want& want : common) exclude(want);
  std::vector<Want> left;
  std::ranges::set_difference(own_, common, std::back_inserter(left));
  own_ = std::move(left);
}

}  // namespace kiln
