/// Plugins of a program's that have a standard one inside, and hand it all their calls.
#pragma once

#include <NvInfer.h>

#include <memory>

namespace kiln::plugins::testing {

namespace nv = nvinfer1;

struct DestroyV2 {
  void operator()(nv::IPluginV2* plugin) const { plugin->destroy(); }
};
using OwnedV2 = std::unique_ptr<nv::IPluginV2, DestroyV2>;

std::unique_ptr<nv::IPluginV3> hold(std::unique_ptr<nv::IPluginV3> inside);
/// Does the same with an IPluginV2DynamicExt. Returns others, which know static shapes alone, as they are: ours are
/// none.
OwnedV2 hold(OwnedV2 inside);

}  // namespace kiln::plugins::testing
