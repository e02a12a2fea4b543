// Loads all three libraries and gets an answer from each.
#include <NvInferPlugin.h>
#include <NvInferRuntime.h>
#include <NvOnnxConfig.h>
#include <NvOnnxParser.h>

#include <cstdio>
#include <memory>

namespace {

class Logger : public nvinfer1::ILogger {
 public:
  void log(Severity severity, char const* message) noexcept override {
    if (severity <= Severity::kERROR) ++errors;
    std::printf("%s\n", message);
  }
  int errors = 0;
};

}  // namespace

int main() {
  Logger logger;
  if (getInferLibVersion() != NV_TENSORRT_VERSION) return 1;
  const std::unique_ptr<nvinfer1::IRuntime> runtime(nvinfer1::createInferRuntime(logger));
  if (!runtime) return 2;
  const char no_plan[] = "no plan at all";
  if (runtime->deserializeCudaEngine(no_plan, sizeof no_plan) || logger.errors != 1) return 3;
  if (getNvOnnxParserVersion() != NV_ONNX_PARSER_VERSION) return 4;
  const std::unique_ptr<nvonnxparser::IOnnxConfig> config(nvonnxparser::createONNXConfig());
  if (!config) return 5;
  if (!initLibNvInferPlugins(&logger, "")) return 6;
  std::printf("ok\n");
  return 0;
}
