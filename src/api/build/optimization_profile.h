/// IOptimizationProfile: ranges of the extents, and of the values of shape tensors, that a plan is built for.
#pragma once

#include <NvInfer.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/base/guard.h"
#include "builder/build.h"

namespace kiln::api {

namespace nv = nvinfer1;

class OptimizationProfile final : public nv::IOptimizationProfile, public nv::apiv::VOptimizationProfile {
 public:
  explicit OptimizationProfile(const Reporter& reporter) : reporter_(reporter) { mImpl = this; }
  OptimizationProfile(const OptimizationProfile&) = delete;

  /// The profile as the builder takes it. Fails if an entry is not complete or not in order.
  Result<ProfileRequest> request() const;

  // VOptimizationProfile.
  bool setDimensions(const char* inputName, nv::OptProfileSelector select, const nv::Dims& dims) noexcept override;
  nv::Dims getDimensions(const char* inputName, nv::OptProfileSelector select) const noexcept override;
  bool setShapeValues(const char* inputName, nv::OptProfileSelector select, const int32_t* values,
                      int32_t nbValues) noexcept override;
  int32_t getNbShapeValues(const char* inputName) const noexcept override;
  const int32_t* getShapeValues(const char* inputName, nv::OptProfileSelector select) const noexcept override;
  bool setExtraMemoryTarget(float target) noexcept override;
  float getExtraMemoryTarget() const noexcept override;
  bool isValid() const noexcept override;
  bool setShapeValuesV2(const char* inputName, nv::OptProfileSelector select, const int64_t* values,
                        int32_t nbValues) noexcept override;
  const int64_t* getShapeValuesV2(const char* inputName, nv::OptProfileSelector select) const noexcept override;

 private:
  /// Minimum, optimum and maximum, by OptProfileSelector; absent until set.
  using Range = std::array<std::optional<Extents>, 3>;
  using Ranges = std::map<std::string, Range, std::less<>>;
  Status set(Ranges& ranges, const char* name, nv::OptProfileSelector select, Extents values);
  static const Extents* find(const Ranges& ranges, const char* name, nv::OptProfileSelector select);

  Reporter reporter_;
  Ranges extents_, values_;
  float extra_memory_target_ = 1;
  mutable std::map<const Extents*, std::vector<int32_t>> narrow_;  ///< getShapeValues' answers, which must stay
};

}  // namespace kiln::api
