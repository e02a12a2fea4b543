// libnvonnxparser: hands its calls to the parser inside libnvinfer, through the private entry.
#include <NvOnnxParser.h>

#include <cstdio>
#include <string>

#include "api/base/private_entry.h"

namespace {

/// libnvinfer's parser functions; the words say why there are none.
struct Parser {
  KilnParserEntry entry{};
  std::string problem;
};

Parser find_parser() {
  KilnPrivateEntry table{};
  table.size = sizeof table;
  table.version = kKilnEntryVersion;
  const KilnStatus status = kiln_private_entry(&table);
  if (status != kKilnOk)
    return {{},
            "libnvinfer is of another build of Kiln: its private entry has version " + std::to_string(table.version) +
                ", libnvonnxparser needs " + std::to_string(kKilnEntryVersion)};
  return {table.parser, ""};
}

void* create(void* (*KilnParserEntry::*function)(void*, void*, int32_t), const char* call, void* subject, void* logger,
             int32_t version) noexcept {
  if (!logger) {
    std::fprintf(stderr, "%s: the logger is null\n", call);  // nobody else to tell
    return nullptr;
  }
  try {
    static const Parser parser = find_parser();
    if (parser.problem.empty() && parser.entry.*function) return (parser.entry.*function)(subject, logger, version);
    const std::string text = std::string(call) + ": " + (parser.problem.empty() ? "not in Kiln yet" : parser.problem);
    static_cast<nvinfer1::ILogger*>(logger)->log(nvinfer1::ILogger::Severity::kERROR, text.c_str());
  } catch (...) {
    static_cast<nvinfer1::ILogger*>(logger)->log(nvinfer1::ILogger::Severity::kERROR, call);
  }
  return nullptr;
}

}  // namespace

void* createNvOnnxParser_INTERNAL(void* network, void* logger, int version) noexcept {
  return create(&KilnParserEntry::create_parser, "createParser", network, logger, version);
}

void* createNvOnnxParserRefitter_INTERNAL(void* refitter, void* logger, int32_t version) noexcept {
  return create(&KilnParserEntry::create_parser_refitter, "createParserRefitter", refitter, logger, version);
}

int getNvOnnxParserVersion() noexcept { return NV_ONNX_PARSER_VERSION; }
