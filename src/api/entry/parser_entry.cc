#include "api/entry/parser_entry.h"

#include "api/onnx/create.h"

namespace kiln::api {

KilnParserEntry parser_entry() { return {create_parser, create_parser_refitter}; }

}  // namespace kiln::api
