#include "api/onnx/parser_refitter.h"

namespace kiln::api {

bool ParserRefitter::missing_call(const char* call) noexcept {
  return errors_.run(call, []() -> Status { return error(Code::kUnsupported, "refitting is not in Kiln yet"); });
}

bool ParserRefitter::refitFromBytes(const void*, size_t, const char*) noexcept {
  return missing_call("IParserRefitter::refitFromBytes");
}
bool ParserRefitter::refitFromFile(const char*) noexcept { return missing_call("IParserRefitter::refitFromFile"); }
int32_t ParserRefitter::getNbErrors() const noexcept { return errors_.size(); }
const nvonnxparser::IParserError* ParserRefitter::getError(int32_t index) const noexcept { return errors_.at(index); }
void ParserRefitter::clearErrors() { errors_.clear(); }
bool ParserRefitter::loadModelProto(const void*, size_t, const char*) noexcept {
  return missing_call("IParserRefitter::loadModelProto");
}
bool ParserRefitter::loadInitializer(const char*, const void*, size_t) noexcept {
  return missing_call("IParserRefitter::loadInitializer");
}
bool ParserRefitter::refitModelProto() noexcept { return missing_call("IParserRefitter::refitModelProto"); }

}  // namespace kiln::api
