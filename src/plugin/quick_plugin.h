/// Quick plugins: those of `tensorrt.plugin`'s decorators, with parts of their own, seen as plugins of version 3.
#pragma once

#include <NvInferRuntime.h>

#include <memory>
#include <vector>

#include "base/error.h"

namespace kiln::plugin {

/// Whether the core part of a plugin is a quick plugin's.
bool is_quick(nvinfer1::IPluginV3& plugin);

/// A plugin of version 3 around a quick one, which it owns. Fails where parts are missing that the phase needs: a
/// plugin that has kernels of its build alone (IPluginV3QuickAOTBuild) is not in Kiln yet.
Result<std::unique_ptr<nvinfer1::IPluginV3>> as_v3(std::unique_ptr<nvinfer1::IPluginV3> quick,
                                                   nvinfer1::TensorRTPhase phase);

/// Tells what `as_v3`, or a clone of that, made the ranks of its inputs, which getOutputDataTypes is given.
void tell_ranks(nvinfer1::IPluginV3& adapter, std::vector<int32_t> ranks);

/// Why the plugin within what `as_v3` made named no combinations when it was last asked; an error of its calls.
Status listing_failure(nvinfer1::IPluginV3& adapter);

/// The quick plugin within what `as_v3`, or a clone of that, made.
nvinfer1::IPluginV3& quick_within(nvinfer1::IPluginV3& adapter);

}  // namespace kiln::plugin
