// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Settings of programs that read ONNX models.

#ifndef KILN_NV_ONNX_CONFIG_H
#define KILN_NV_ONNX_CONFIG_H

#include "NvInfer.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

namespace nvonnxparser {

//! Settings of a program that reads models: file names, precision, verbosity.
class IOnnxConfig {
 public:
  //! How much to print; larger is more.
  using Verbosity = int32_t;

  virtual ~IOnnxConfig() noexcept = default;
  virtual void setModelDtype(nvinfer1::DataType) noexcept = 0;
  virtual nvinfer1::DataType getModelDtype() const noexcept = 0;
  virtual char const* getModelFileName() const noexcept = 0;
  virtual void setModelFileName(char const* onnxFilename) noexcept = 0;
  virtual Verbosity getVerbosityLevel() const noexcept = 0;
  virtual void addVerbosity() noexcept = 0;
  virtual void reduceVerbosity() noexcept = 0;
  virtual void setVerbosityLevel(Verbosity) noexcept = 0;
  virtual char const* getTextFileName() const noexcept = 0;
  virtual void setTextFileName(char const* textFileName) noexcept = 0;
  virtual char const* getFullTextFileName() const noexcept = 0;
  virtual void setFullTextFileName(char const* fullTextFileName) noexcept = 0;
  virtual bool getPrintLayerInfo() const noexcept = 0;
  virtual void setPrintLayerInfo(bool) noexcept = 0;
};

//! Creates an empty configuration; the caller deletes it.
TENSORRTAPI IOnnxConfig* createONNXConfig();

}  // namespace nvonnxparser

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif  // KILN_NV_ONNX_CONFIG_H
