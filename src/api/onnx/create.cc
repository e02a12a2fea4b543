#include "api/onnx/create.h"

#include "api/base/create.h"
#include "api/base/guard.h"
#include "api/onnx/parser.h"
#include "api/onnx/parser_refitter.h"

namespace kiln::api {
namespace {

/// Null where the headers are newer: they may call slots that this parser does not have.
template <class I, class F>
I* create(void* subject, void* logger, int32_t version, const char* call, F make) noexcept {
  if (!logger) return tell_without_logger(call), nullptr;
  const Reporter reporter(*static_cast<nvinfer1::ILogger*>(logger));
  return guard(reporter, call, static_cast<I*>(nullptr), [&]() -> Result<I*> {
    TRY(require(subject != nullptr, "the network or refitter is null"));
    TRY(require(version > 0 && version <= NV_ONNX_PARSER_VERSION, "the program's parser headers have version ", version,
                ", this library has ", NV_ONNX_PARSER_VERSION));
    return make(reporter.logger());
  });
}

}  // namespace

void* create_parser(void* network, void* logger, int32_t version) {
  return create<nvonnxparser::IParser>(network, logger, version, "createParser", [&](nvinfer1::ILogger& to) {
    return new Parser(NetworkHandle::of(*static_cast<nvinfer1::INetworkDefinition*>(network)), to);
  });
}

void* create_parser_refitter(void* refitter, void* logger, int32_t version) {
  return create<nvonnxparser::IParserRefitter>(refitter, logger, version, "createParserRefitter",
                                               [](nvinfer1::ILogger& to) { return new ParserRefitter(to); });
}

}  // namespace kiln::api
