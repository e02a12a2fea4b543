// libnvonnxparser: the configuration object of the parser's older programs. It only remembers.
#include <NvOnnxConfig.h>

#include <new>
#include <string>

namespace {

class OnnxConfig final : public nvonnxparser::IOnnxConfig {
 public:
  void setModelDtype(nvinfer1::DataType type) noexcept override { type_ = type; }
  nvinfer1::DataType getModelDtype() const noexcept override { return type_; }
  char const* getModelFileName() const noexcept override { return model_.c_str(); }
  void setModelFileName(char const* name) noexcept override { keep(model_, name); }
  Verbosity getVerbosityLevel() const noexcept override { return verbosity_; }
  void addVerbosity() noexcept override { ++verbosity_; }
  void reduceVerbosity() noexcept override { --verbosity_; }
  void setVerbosityLevel(Verbosity verbosity) noexcept override { verbosity_ = verbosity; }
  char const* getTextFileName() const noexcept override { return text_.c_str(); }
  void setTextFileName(char const* name) noexcept override { keep(text_, name); }
  char const* getFullTextFileName() const noexcept override { return full_text_.c_str(); }
  void setFullTextFileName(char const* name) noexcept override { keep(full_text_, name); }
  bool getPrintLayerInfo() const noexcept override { return print_layers_; }
  void setPrintLayerInfo(bool print) noexcept override { print_layers_ = print; }

 private:
  static void keep(std::string& field, char const* name) noexcept {
    try {
      field = name ? name : "";
    } catch (...) {  // no memory: no name, and no way to say so
      field.clear();
    }
  }
  nvinfer1::DataType type_ = nvinfer1::DataType::kFLOAT;
  std::string model_, text_, full_text_;
  Verbosity verbosity_ = static_cast<Verbosity>(nvinfer1::ILogger::Severity::kWARNING);
  bool print_layers_ = false;
};

}  // namespace

nvonnxparser::IOnnxConfig* nvonnxparser::createONNXConfig() { return new (std::nothrow) OnnxConfig; }
