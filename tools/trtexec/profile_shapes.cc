#include "profile_shapes.h"

#include <algorithm>

#include "dims.h"
#include "log.h"

namespace kiln::cli::trtexec {
namespace {

using nvinfer1::OptProfileSelector;

void require_fit(const nvinfer1::ITensor& input, const Extents& declared, const Extents& given) {
  const Extents shape = as_declared(given, declared);
  bool fits = declared.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) fits = declared[i] < 0 || declared[i] == shape[i];
  require(fits, "input '", input.getName(), "': the shape given, ", declared_text(given),
          ", does not fit the network's, ", declared_text(declared));
}

/// One for every value of a shape tensor, or every dynamic extent.
Extents default_shape(const nvinfer1::ITensor& input, const Extents& declared) {
  if (!input.isShapeTensor()) return with_ones(declared);
  return Extents(static_cast<size_t>(volume(with_ones(declared))), 1);
}

void set_range(nvinfer1::IOptimizationProfile& profile, const nvinfer1::ITensor& input, const ShapeRange& range) {
  const char* name = input.getName();
  const std::pair<OptProfileSelector, const Extents*> all[] = {{OptProfileSelector::kMIN, &range.min},
                                                               {OptProfileSelector::kOPT, &range.opt},
                                                               {OptProfileSelector::kMAX, &range.max}};
  for (const auto& [which, shape] : all) {
    const bool taken = input.isShapeTensor()
                           ? profile.setShapeValuesV2(name, which, shape->data(), static_cast<int32_t>(shape->size()))
                           : profile.setDimensions(name, which, to_dims(*shape, name));
    require(taken, "input '", name, "': the profile refuses ", shape_text(*shape), " of MIN=", shape_text(range.min),
            " OPT=", shape_text(range.opt), " MAX=", shape_text(range.max));
  }
}

std::vector<std::string> input_names(const nvinfer1::INetworkDefinition& network) {
  std::vector<std::string> inputs;
  for (int i = 0, count = network.getNbInputs(); i < count; ++i) inputs.push_back(network.getInput(i)->getName());
  return inputs;
}

void check_given(const nvinfer1::ITensor& input, const ShapeRange* given) {
  if (!given || input.isShapeTensor()) return;
  for (const Extents* shape : {&given->min, &given->opt, &given->max})
    require_fit(input, extents(input.getDimensions()), *shape);
}

bool wants_range(const nvinfer1::ITensor& input) {
  return is_dynamic(extents(input.getDimensions())) || input.isShapeTensor();
}

void add_profile(int index, const NamedRanges& shapes, const nvinfer1::INetworkDefinition& network,
                 nvinfer1::IBuilder& builder, nvinfer1::IBuilderConfig& config, Log& log) {
  require_inputs(shapes, input_names(network), "the network");
  const EntryIndex<ShapeRange> ranges(shapes);
  nvinfer1::IOptimizationProfile* profile = nullptr;  // the builder's own
  for (int i = 0; i < network.getNbInputs(); ++i) {
    const nvinfer1::ITensor& input = *network.getInput(i);
    const ShapeRange* given = ranges.find(input.getName());
    check_given(input, given);
    if (!wants_range(input)) continue;
    ShapeRange range;
    if (given) {
      range = *given;
    } else {
      range.min = range.opt = range.max = default_shape(input, extents(input.getDimensions()));
      log.warn("Dynamic dimensions required for input: ", input.getName(),
               ", but no shapes were provided. Automatically overriding shape to: ", shape_text(range.opt));
    }
    if (!profile) profile = builder.createOptimizationProfile();
    require(profile != nullptr, "no optimization profile: the message above says why");
    set_range(*profile, input, range);
    log.info("Set ", input.isShapeTensor() ? "input shape tensor " : "shape of input tensor ", input.getName(),
             " for optimization profile ", index, " to: MIN=", shape_text(range.min), " OPT=", shape_text(range.opt),
             " MAX=", shape_text(range.max));
  }
  if (!profile) return;
  require(profile->isValid(), "the shapes of profile ", index,
          " contradict each other: min <= opt <= max must hold for every extent");
  require(config.addOptimizationProfile(profile) >= 0,
          "the optimization profile was refused: the message above says why");
}

}  // namespace

void add_profiles(const std::vector<NamedRanges>& profiles, const nvinfer1::INetworkDefinition& network,
                  nvinfer1::IBuilder& builder, nvinfer1::IBuilderConfig& config, Log& log) {
  for (size_t i = 0; i < profiles.size(); ++i)
    add_profile(static_cast<int>(i), profiles[i], network, builder, config, log);
}

void set_calibration_shapes(const NamedRanges& shapes, const nvinfer1::INetworkDefinition& network,
                            nvinfer1::IBuilder& builder, nvinfer1::IBuilderConfig& config) {
  if (shapes.empty()) return;
  require_inputs(shapes, input_names(network), "--optShapesCalib: the network");
  const EntryIndex<ShapeRange> ranges(shapes);
  nvinfer1::IOptimizationProfile* const profile = builder.createOptimizationProfile();
  require(profile != nullptr, "no optimization profile: the message above says why");
  for (int i = 0; i < network.getNbInputs(); ++i) {
    const nvinfer1::ITensor& input = *network.getInput(i);
    const ShapeRange* given = ranges.find(input.getName());
    check_given(input, given);
    if (!wants_range(input)) continue;
    require(given, "--optShapesCalib: input '", input.getName(), "' is missing");
    set_range(*profile, input, {given->opt, given->opt, given->opt});
  }
#pragma GCC diagnostic push  // the flags stand for deprecated calls
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  require(config.setCalibrationProfile(profile), "the calibration profile was refused: the message above says why");
#pragma GCC diagnostic pop
}

}  // namespace kiln::cli::trtexec
