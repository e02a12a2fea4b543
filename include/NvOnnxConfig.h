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
  //! Element type that weights are to be read as.
  virtual void setModelDtype(nvinfer1::DataType) noexcept = 0;
  //! What setModelDtype set; kFLOAT by default.
  virtual nvinfer1::DataType getModelDtype() const noexcept = 0;
  //! What setModelFileName set; empty by default.
  virtual char const* getModelFileName() const noexcept = 0;
  //! File of the model.
  virtual void setModelFileName(char const* onnxFilename) noexcept = 0;
  //! How much is to be printed.
  virtual Verbosity getVerbosityLevel() const noexcept = 0;
  //! Prints a level more.
  virtual void addVerbosity() noexcept = 0;
  //! Prints a level less.
  virtual void reduceVerbosity() noexcept = 0;
  //! Sets how much is to be printed.
  virtual void setVerbosityLevel(Verbosity) noexcept = 0;
  //! What setTextFileName set; empty by default.
  virtual char const* getTextFileName() const noexcept = 0;
  //! File for the model as text.
  virtual void setTextFileName(char const* textFileName) noexcept = 0;
  //! What setFullTextFileName set; empty by default.
  virtual char const* getFullTextFileName() const noexcept = 0;
  //! File for the model as text, weights included.
  virtual void setFullTextFileName(char const* fullTextFileName) noexcept = 0;
  //! Whether layers are to be printed.
  virtual bool getPrintLayerInfo() const noexcept = 0;
  //! Sets whether layers are to be printed.
  virtual void setPrintLayerInfo(bool) noexcept = 0;
};

//! Creates an empty configuration; the caller deletes it.
TENSORRTAPI IOnnxConfig* createONNXConfig();

}  // namespace nvonnxparser

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif  // KILN_NV_ONNX_CONFIG_H
