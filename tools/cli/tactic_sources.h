/// --tacticSources: sources of kernels to be added to those that a build takes by itself, and to be left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kiln::cli {

/// Bits of nvinfer1::TacticSource.
struct TacticSourceChoice {
  uint32_t on = 0, off = 0;
  bool given() const { return on != 0 || off != 0; }
  uint32_t applied_to(uint32_t sources) const { return (sources | on) & ~off; }
  bool takes(std::string_view source, bool by_default) const;
};

/// "-CUDNN,+CUBLAS_LT", in either case of letters. Fails with the entry and what is wrong with it.
TacticSourceChoice parse_tactic_sources(std::string_view list);

/// "cublasLt [ON], cudnn [OFF], ", as TensorRT's trtexec describes it.
std::string describe(const TacticSourceChoice& choice);

}  // namespace kiln::cli
