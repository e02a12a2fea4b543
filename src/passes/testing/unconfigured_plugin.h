/// A plugin of one output, of input 0's type and shape, for passes that ask it for types and no more.
#pragma once

#include "ops/plugin_object.h"

namespace kiln::passes::testing {

class UnconfiguredPlugin : public PluginObject {
 public:
  const PluginIdentity& identity() const override { return identity_; }
  int num_outputs() const override { return 1; }
  Status infer(InferContext& cx, int) const override { return cx.set_output(0, TRY(cx.input(0)).get()); }
  const std::vector<int>& size_outputs() const override { return no_sizes_; }
  int most_combinations() const override { return 1; }
  Result<Configured> configure(std::span<const PluginTensor>, std::span<const PluginTensor>) const override {
    return error(Code::kUnsupported, "not configured here");
  }
  Result<std::vector<PluginField>> fields() const override { return std::vector<PluginField>(); }
  Result<std::unique_ptr<PluginInstance>> attach(int) const override {
    return error(Code::kUnsupported, "not attached here");
  }

 private:
  const PluginIdentity identity_{"Unconfigured", "1", ""};
  const std::vector<int> no_sizes_;
};

}  // namespace kiln::passes::testing
