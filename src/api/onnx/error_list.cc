#include "api/onnx/error_list.h"

namespace kiln::api {
namespace {

using nvonnxparser::ErrorCode;

ErrorCode code_of(Code code) {
  switch (code) {
    case Code::kInvalidArgument: return ErrorCode::kINVALID_VALUE;
    case Code::kUnsupported: return ErrorCode::kUNSUPPORTED_GRAPH;
    case Code::kCorrupt: return ErrorCode::kMODEL_DESERIALIZE_FAILED;
    case Code::kVersion: return ErrorCode::kUNSUPPORTED_GRAPH;
    case Code::kNotFound: return ErrorCode::kINVALID_GRAPH;
    case Code::kState: return ErrorCode::kINVALID_VALUE;
    case Code::kOutOfMemory: return ErrorCode::kMEM_ALLOC_FAILED;
    case Code::kIo: return ErrorCode::kMODEL_DESERIALIZE_FAILED;
    case Code::kDevice: return ErrorCode::kINTERNAL_ERROR;
    case Code::kInternal: return ErrorCode::kINTERNAL_ERROR;
  }
  return ErrorCode::kINTERNAL_ERROR;
}

ErrorCode code_of(const onnx::Problem& problem) {
  if (problem.node < 0)
    return problem.code == Code::kInvalidArgument ? ErrorCode::kINVALID_GRAPH : code_of(problem.code);
  if (problem.code == Code::kInvalidArgument) return ErrorCode::kINVALID_NODE;
  return problem.code == Code::kUnsupported ? ErrorCode::kUNSUPPORTED_NODE : code_of(problem.code);
}

}  // namespace

ParserError::ParserError(const onnx::Problem& problem, const char* call)
    : code_(code_of(problem)),
      text_(problem.message),
      call_(call),
      node_(problem.node),
      node_name_(problem.node_name),
      operator_(problem.op_type),
      functions_(problem.functions) {
  for (const std::string& function : functions_) stack_.push_back(function.c_str());
}

void ErrorList::add(const char* call, const Error& error) {
  reporter_.report(call, error);
  errors_.emplace_back(code_of(error.code), error.message, call);
}

void ErrorList::add(const char* call, const onnx::Problem& problem) {
  reporter_.report(call, Error{problem.code, problem.message});
  errors_.emplace_back(problem, call);
}

const ParserError* ErrorList::at(int index) const {
  return index >= 0 && index < size() ? &errors_[static_cast<size_t>(index)] : nullptr;
}

}  // namespace kiln::api
