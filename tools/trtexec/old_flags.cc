#include "old_flags.h"

#include <algorithm>

#include "cli/text.h"

namespace kiln::cli::trtexec {
namespace {

constexpr std::string_view kBatch =
    "the batch is an axis of the network's inputs: give it by --shapes, and its range by "
    "--minShapes, --optShapes and --maxShapes";
constexpr std::string_view kAllFormats =
    "Caffe and UFF models are read by no TensorRT since 9; export the network to ONNX, "
    "and give it by --onnx";
constexpr OldFlag kOldFlags[] = {
    {"--workspace", Fate::kReplaced, "--memPoolSize=workspace:"},
    {"--buildOnly", Fate::kReplaced, "--skipInference"},
    {"--nvtxMode", Fate::kReplaced, "--profilingVerbosity="},
    {"--heuristic", Fate::kReplaced, "--builderOptimizationLevel=2"},
    {"--explicitBatch", Fate::kNeedless, "the batch is always an axis of the network's inputs"},
    {"--explicitPrecision", Fate::kNeedless, "scales of Q/DQ nodes are always taken from the network"},
    {"--nativeInstanceNorm", Fate::kNeedless, "InstanceNormalization is always made of layers"},
    {"--ni", Fate::kNeedless, "InstanceNormalization is always made of layers"},
    {"--minTiming", Fate::kNeedless, "--avgTiming says how often candidates are measured"},
    {"--batch", Fate::kGone, kBatch},
    {"--maxBatch", Fate::kGone, kBatch},
    {"--model", Fate::kGone, kAllFormats},
    {"--deploy", Fate::kGone, kAllFormats},
    {"--output", Fate::kGone, kAllFormats},
    {"--uff", Fate::kGone, kAllFormats},
    {"--uffInput", Fate::kGone, kAllFormats},
    {"--uffNHWC", Fate::kGone, kAllFormats},
};

}  // namespace

std::span<const OldFlag> old_flags() { return kOldFlags; }

namespace {

/// Whether a word of the command line sets what `instead`, a flag of today, would set; of memory pools, the same one.
bool sets_the_same(std::string_view word, std::string_view instead) {
  const size_t equals = instead.find('=');
  if (word.substr(0, word.find('=')) != instead.substr(0, equals)) return false;
  const size_t colon = instead.find(':');
  return colon == instead.npos || word.find(instead.substr(equals + 1, colon - equals)) != word.npos;
}

}  // namespace

std::vector<std::string> without_old_flags(std::span<const char* const> words, std::vector<std::string>& warnings) {
  std::vector<std::string> today;
  for (const std::string_view word : words) {
    const size_t equals = word.find('=');
    const auto old = std::ranges::find(kOldFlags, word.substr(0, equals), &OldFlag::name);
    if (old == std::end(kOldFlags)) {
      today.emplace_back(word);
      continue;
    }
    require(old->fate != Fate::kGone, old->name, " is a flag of older releases: ", old->now);
    if (old->fate == Fate::kNeedless) {
      warnings.push_back(str(old->name, " is a flag of older releases and does nothing: ", old->now));
      continue;
    }
    std::string instead(old->now);
    if (instead.ends_with('=') || instead.ends_with(':')) {
      require(equals != word.npos && equals + 1 < word.size(), "flag ", old->name, " needs a value, as in ", old->name,
              "=N; ", old->now, "N has replaced it");
      instead += word.substr(equals + 1);
    }
    const auto same =
        std::ranges::find_if(words, [&](std::string_view other) { return sets_the_same(other, instead); });
    if (same != words.end()) {
      warnings.push_back(
          str(old->name, " is a flag of older releases; it means ", instead, ", beside which ", *same, " counts"));
      continue;
    }
    warnings.push_back(str(old->name, " is a flag of older releases; it means ", instead));
    today.push_back(std::move(instead));
  }
  return today;
}

}  // namespace kiln::cli::trtexec
