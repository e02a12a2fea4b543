#include "api/entry/parser_entry.h"

#if __has_include("api/onnx/create.h")
#include "api/onnx/create.h"
#endif

namespace kiln::api {

KilnParserEntry parser_entry() {
#if __has_include("api/onnx/create.h")
  return {create_parser, create_parser_refitter};
#else
  return {};
#endif
}

}  // namespace kiln::api
