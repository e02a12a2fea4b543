/// IEngineInspector: an engine's layers as text or JSON.
#pragma once

#include <NvInferRuntime.h>

#include <string>
#include <vector>

#include "api/run/engine.h"
#include "plan/nested_steps.h"

namespace kiln::api {

/// An inspector. The text that it hands out lives until its next call. Layers are the profile's steps, each followed by
/// those of its bodies.
class Inspector final : public nvinfer1::IEngineInspector, public nvinfer1::apiv::VEngineInspector {
 public:
  using Format = nvinfer1::LayerInformationFormat;
  Inspector(const Engine& engine, const Reporter& parent) : engine_(engine.runtime_engine()), reporter_(parent) {
    mImpl = this;
  }

  nvinfer1::IEngineInspector* getPImpl() noexcept override { return this; }
  /// Layers are then those of the context's profile, with its shapes.
  bool setExecutionContext(nvinfer1::IExecutionContext const* context) noexcept override;
  nvinfer1::IExecutionContext const* getExecutionContext() const noexcept override { return context_; }
  char const* getLayerInformation(int32_t index, Format format) const noexcept override;
  char const* getEngineInformation(Format format) const noexcept override;
  void setErrorRecorder(nvinfer1::IErrorRecorder* recorder) noexcept override { reporter_.set_recorder(recorder); }
  nvinfer1::IErrorRecorder* getErrorRecorder() const noexcept override { return reporter_.recorder(); }

 private:
  std::shared_ptr<const runtime::Engine> engine_;  ///< a program may delete the engine before
  Reporter reporter_;
  nvinfer1::IExecutionContext const* context_ = nullptr;
  const std::vector<plan::NestedStep>& layers_of(int profile) const;

  mutable std::string text_;
  mutable std::vector<plan::NestedStep> layers_;  ///< of `layers_profile_`
  mutable int layers_profile_ = -1;
};

}  // namespace kiln::api
