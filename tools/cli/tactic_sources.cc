#include "tactic_sources.h"

#include <strings.h>

#include "NvInferRuntime.h"
#include "text.h"

namespace kiln::cli {
namespace {

struct Source {
  std::string_view name, label;
  uint32_t bit;
};

constexpr uint32_t bit_of(nvinfer1::TacticSource source) { return 1U << static_cast<uint32_t>(source); }

#pragma GCC diagnostic push  // the sources that are libraries are deprecated, and what the flag is for
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
constexpr Source kSources[] = {
    {"CUBLAS", "cublas", bit_of(nvinfer1::TacticSource::kCUBLAS)},
    {"CUBLAS_LT", "cublasLt", bit_of(nvinfer1::TacticSource::kCUBLAS_LT)},
    {"CUDNN", "cudnn", bit_of(nvinfer1::TacticSource::kCUDNN)},
    {"EDGE_MASK_CONVOLUTIONS", "edge mask convolutions", bit_of(nvinfer1::TacticSource::kEDGE_MASK_CONVOLUTIONS)},
    {"JIT_CONVOLUTIONS", "JIT convolutions", bit_of(nvinfer1::TacticSource::kJIT_CONVOLUTIONS)},
};
#pragma GCC diagnostic pop

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

uint32_t bit_named(std::string_view name) {
  if (same_name(name, "CUBLASLT")) name = "CUBLAS_LT";
  std::string all;
  for (const Source& source : kSources) {
    if (same_name(name, source.name)) return source.bit;
    all += str(all.empty() ? "" : ", ", source.name);
  }
  fail("--tacticSources: '", name, "' is not a source; there are ", all);
}

}  // namespace

bool TacticSourceChoice::takes(std::string_view source, bool by_default) const {
  const uint32_t bit = bit_named(source);
  return (applied_to(by_default ? bit : 0) & bit) != 0;
}

TacticSourceChoice parse_tactic_sources(std::string_view list) {
  TacticSourceChoice choice;
  for (const std::string& entry : split(list, ',')) {
    require(entry.starts_with('+') || entry.starts_with('-'), "--tacticSources: '", entry,
            "' begins with neither + (take kernels from there) nor - (don't)");
    (entry[0] == '+' ? choice.on : choice.off) |= bit_named(trim(std::string_view(entry).substr(1)));
    require((choice.on & choice.off) == 0, "--tacticSources: '", entry.substr(1), "' is both added and left out");
  }
  return choice;
}

std::string describe(const TacticSourceChoice& choice) {
  if (!choice.given()) return "Using default tactic sources";
  std::string text;
  for (const Source& source : kSources)
    if ((choice.on | choice.off) & source.bit)
      text += str(source.label, choice.on & source.bit ? " [ON], " : " [OFF], ");
  return text;
}

}  // namespace kiln::cli
