#include "api/build/optimization_profile.h"

#include <algorithm>
#include <cmath>

#include "api/base/convert.h"
#include "api/build/arguments.h"
#include "api/build/layer.h"

namespace kiln::api {
namespace {

constexpr const char* kSelectors[] = {"minimum", "optimum", "maximum"};

/// Fails if two of minimum, optimum and maximum are set and out of order. All that are set have the same length.
template <class Range>
Status check_order(const Range& range, std::string_view name) {
  for (size_t low = 0; low < 3; ++low)
    for (size_t high = low + 1; high < 3; ++high) {
      if (!range[low] || !range[high]) continue;
      for (size_t i = 0; i < range[low]->size(); ++i)
        TRY(require((*range[low])[i] <= (*range[high])[i], "input '", name, "', number ", i, ": ", kSelectors[low], ' ',
                    (*range[low])[i], " is above ", kSelectors[high], ' ', (*range[high])[i]));
    }
  return {};
}

template <class Range>
Result<plan::InputRange> complete(const Range& range, std::string_view name) {
  for (size_t i = 0; i < 3; ++i) TRY(require(range[i].has_value(), "input '", name, "' has no ", kSelectors[i]));
  TRY(check_order(range, name));
  return plan::InputRange{*range[0], *range[1], *range[2]};
}

}  // namespace

Status OptimizationProfile::set(Ranges& ranges, const char* name, nv::OptProfileSelector select, Extents values) {
  const auto which = static_cast<size_t>(TRY(enum_from_api<nv::OptProfileSelector>(select, "select")));
  Range changed{};
  if (const auto found = ranges.find(name); found != ranges.end()) changed = found->second;
  for (size_t i = 0; i < 3; ++i)
    TRY(require(i == which || !changed[i] || changed[i]->size() == values.size(), "input '", name, "': the ",
                kSelectors[which], " has ", values.size(), " numbers, the ", kSelectors[i], ' ',
                changed[i] ? changed[i]->size() : 0));
  changed[which] = std::move(values);
  TRY(check_order(changed, name));
  Range& kept = ranges[name];
  narrow_.clear();
  kept = std::move(changed);
  return {};
}

const Extents* OptimizationProfile::find(const Ranges& ranges, const char* name, nv::OptProfileSelector select) {
  const auto found = name ? ranges.find(name) : ranges.end();
  const auto which = static_cast<int32_t>(select);
  if (found == ranges.end() || which < 0 || which >= 3) return nullptr;
  const auto& values = found->second[static_cast<size_t>(which)];
  return values ? &*values : nullptr;
}

Result<ProfileRequest> OptimizationProfile::request() const {
  ProfileRequest result;
  for (const auto& [name, range] : extents_) result.extents[name] = TRY(complete(range, name));
  for (const auto& [name, range] : values_) result.values[name] = TRY(complete(range, name));
  return result;
}

bool OptimizationProfile::setDimensions(const char* inputName, nv::OptProfileSelector select,
                                        const nv::Dims& dims) noexcept {
  return guard(reporter_, "IOptimizationProfile::setDimensions", [&]() -> Status {
    const std::string name(TRY(name_argument(inputName, "inputName")));
    Extents extents = TRY(in_context(numbers(dims, -1, 0, "dims"), [&] { return str("input '", name, "'"); }));
    return set(extents_, name.c_str(), select, std::move(extents));
  });
}

nv::Dims OptimizationProfile::getDimensions(const char* inputName, nv::OptProfileSelector select) const noexcept {
  const Extents* const extents = find(extents_, inputName, select);
  return extents ? to_api(*extents) : no_dims();
}

bool OptimizationProfile::setShapeValues(const char* inputName, nv::OptProfileSelector select, const int32_t* values,
                                         int32_t nbValues) noexcept {
  return guard(reporter_, "IOptimizationProfile::setShapeValues", [&]() -> Status {
    TRY(name_argument(inputName, "inputName"));
    TRY(require(values && nbValues >= 0, "input '", inputName, "': values are null, or their number is negative"));
    return set(values_, inputName, select, Extents(values, values + nbValues));
  });
}

bool OptimizationProfile::setShapeValuesV2(const char* inputName, nv::OptProfileSelector select, const int64_t* values,
                                           int32_t nbValues) noexcept {
  return guard(reporter_, "IOptimizationProfile::setShapeValuesV2", [&]() -> Status {
    TRY(name_argument(inputName, "inputName"));
    TRY(require(values && nbValues >= 0, "input '", inputName, "': values are null, or their number is negative"));
    return set(values_, inputName, select, Extents(values, values + nbValues));
  });
}

int32_t OptimizationProfile::getNbShapeValues(const char* inputName) const noexcept {
  for (const auto select : {nv::OptProfileSelector::kMIN, nv::OptProfileSelector::kOPT, nv::OptProfileSelector::kMAX})
    if (const Extents* const values = find(values_, inputName, select)) return static_cast<int32_t>(values->size());
  return -1;
}

const int32_t* OptimizationProfile::getShapeValues(const char* inputName,
                                                   nv::OptProfileSelector select) const noexcept {
  return guard(reporter_, "IOptimizationProfile::getShapeValues", static_cast<const int32_t*>(nullptr),
               [&]() -> Result<const int32_t*> {
                 const Extents* const values = find(values_, inputName, select);
                 if (!values) return nullptr;
                 std::vector<int32_t>& answer = narrow_[values];
                 answer.clear();
                 for (const int64_t value : *values) {
                   TRY(require(value >= INT32_MIN && value <= INT32_MAX, "value ", value,
                               " does not fit in 32 bits; use getShapeValuesV2"));
                   answer.push_back(static_cast<int32_t>(value));
                 }
                 return answer.data();
               });
}

const int64_t* OptimizationProfile::getShapeValuesV2(const char* inputName,
                                                     nv::OptProfileSelector select) const noexcept {
  const Extents* const values = find(values_, inputName, select);
  return values ? values->data() : nullptr;
}

bool OptimizationProfile::setExtraMemoryTarget(float target) noexcept {
  if (!(target >= 0 && target <= 1)) return false;
  extra_memory_target_ = target;
  return true;
}
float OptimizationProfile::getExtraMemoryTarget() const noexcept { return extra_memory_target_; }

bool OptimizationProfile::isValid() const noexcept {
  return guard(reporter_, "IOptimizationProfile::isValid", false, [&] { return request().has_value(); });
}

}  // namespace kiln::api
