// Names and words of errors.
#include "call.h"

using namespace kiln::cudart;

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define ERROR(name, text) \
  case name:              \
    return #name;
#include "errors.def"
#undef ERROR
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  // Only a call that found no library or no device returns these codes, and the whole process has one reason for it.
  if (error == cudaErrorInitializationError || error == cudaErrorNoDevice)
    if (!library() && why_not().error == error) return why_not().text;
  switch (error) {
#define ERROR(name, text) \
  case name:              \
    return text;
#include "errors.def"
#undef ERROR
  }
  return "unrecognized error code";
}
