// A library whose plugins share something under the key "weights of shares_a_resource".
#include "creators.h"

namespace {
class Weights final : public nvinfer1::IPluginResource {
 public:
  int32_t release() noexcept override { return 0; }
  IPluginResource* clone() noexcept override { return new Weights; }
};
}  // namespace

LIBRARY_ENTRY nvinfer1::IPluginCreatorInterface* const* getCreators(int32_t& count) {
  static NewCreator creator("Sharing");
  static nvinfer1::IPluginCreatorInterface* const creators[] = {&creator};
  count = 1;
  return creators;
}

/// What a plugin does that is made ready to run.
LIBRARY_ENTRY bool acquire_weights(nvinfer1::IPluginRegistry& registry) {
  Weights weights;
  return registry.acquirePluginResource("weights of shares_a_resource", &weights) != nullptr;
}
