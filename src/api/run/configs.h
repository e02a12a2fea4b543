/// Choices for a context and for writing a plan: IRuntimeConfig and ISerializationConfig.
#pragma once

#include <NvInferRuntime.h>

#include "api/base/guard.h"

namespace kiln::api {

class RuntimeConfig final : public nvinfer1::IRuntimeConfig, public nvinfer1::apiv::VRuntimeConfig {
 public:
  using Strategy = nvinfer1::ExecutionContextAllocationStrategy;
  explicit RuntimeConfig(Strategy strategy = Strategy::kSTATIC) : strategy_(strategy) { mImpl = this; }
  nvinfer1::IRuntimeConfig* getPImpl() noexcept override { return this; }
  void setExecutionContextAllocationStrategy(Strategy strategy) noexcept override { strategy_ = strategy; }
  Strategy getExecutionContextAllocationStrategy() const noexcept override { return strategy_; }

 private:
  Strategy strategy_;
};

class SerializationConfig final : public nvinfer1::ISerializationConfig, public nvinfer1::apiv::VSerializationConfig {
 public:
  using Flag = nvinfer1::SerializationFlag;
  explicit SerializationConfig(const Reporter& parent) : reporter_(parent) { mImpl = this; }

  bool setFlags(nvinfer1::SerializationFlags flags) noexcept override {
    return guard(reporter_, "ISerializationConfig::setFlags", [&]() -> Status {
      TRY(require(flags < (1u << nvinfer1::EnumMax<Flag>()), "flags ", flags,
                  " have bits that are no SerializationFlag"));
      flags_ = flags;
      return {};
    });
  }
  nvinfer1::SerializationFlags getFlags() const noexcept override { return flags_; }
  bool clearFlag(Flag flag) noexcept override {
    return change("ISerializationConfig::clearFlag", flag, [&](uint32_t bit) { flags_ &= ~bit; });
  }
  bool setFlag(Flag flag) noexcept override {
    return change("ISerializationConfig::setFlag", flag, [&](uint32_t bit) { flags_ |= bit; });
  }
  bool getFlag(Flag flag) const noexcept override { return is_flag(flag) && (flags_ & (1u << static_cast<int>(flag))); }

 private:
  static bool is_flag(Flag flag) {
    return static_cast<int>(flag) >= 0 && static_cast<int>(flag) < nvinfer1::EnumMax<Flag>();
  }
  template <class F>
  bool change(const char* call, Flag flag, F apply) noexcept {
    return guard(reporter_, call, [&]() -> Status {
      TRY(require(is_flag(flag), "SerializationFlag(", static_cast<int>(flag), ") is not a flag"));
      apply(1u << static_cast<int>(flag));
      return {};
    });
  }
  Reporter reporter_;
  nvinfer1::SerializationFlags flags_ = 0;
};

}  // namespace kiln::api
