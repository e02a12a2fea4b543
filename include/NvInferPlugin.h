// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The standard plugin library.

#ifndef KILN_NV_INFER_PLUGIN_H
#define KILN_NV_INFER_PLUGIN_H

#include "NvInfer.h"
#include "NvInferPluginUtils.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

//! Registers the creators of all plugins in the plugin library under the given namespace; false if one could not be
//! registered. The logger is an nvinfer1::ILogger*; null uses the registry's.
extern "C" TENSORRTAPI bool initLibNvInferPlugins(void* logger, char const* libNamespace);

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif  // KILN_NV_INFER_PLUGIN_H
