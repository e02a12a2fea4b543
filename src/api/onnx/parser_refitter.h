/// IParserRefitter: a model's weights into an engine that exists. Not in Kiln yet: every call that would, says so.
#pragma once

#include <NvOnnxParser.h>

#include "api/onnx/error_list.h"

namespace kiln::api {

class ParserRefitter final : public nvonnxparser::IParserRefitter {
 public:
  explicit ParserRefitter(nvinfer1::ILogger& logger) : errors_(logger) {}

  bool refitFromBytes(const void* serializedOnnxModel, size_t serializedOnnxModelSize,
                      const char* modelPath) noexcept override;
  bool refitFromFile(const char* onnxModelFile) noexcept override;
  int32_t getNbErrors() const noexcept override;
  const nvonnxparser::IParserError* getError(int32_t index) const noexcept override;
  void clearErrors() override;
  bool loadModelProto(const void* serializedOnnxModel, size_t serializedOnnxModelSize,
                      const char* modelPath) noexcept override;
  bool loadInitializer(const char* name, const void* data, size_t size) noexcept override;
  bool refitModelProto() noexcept override;

 private:
  bool missing_call(const char* call) noexcept;
  ErrorList errors_;
};

}  // namespace kiln::api
