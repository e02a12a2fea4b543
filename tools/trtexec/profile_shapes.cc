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

}  // namespace

void add_profile(const NamedRanges& shapes, const nvinfer1::INetworkDefinition& network, nvinfer1::IBuilder& builder,
                 nvinfer1::IBuilderConfig& config, Log& log) {
  std::vector<std::string> inputs;
  for (int i = 0, count = network.getNbInputs(); i < count; ++i) inputs.push_back(network.getInput(i)->getName());
  require_inputs(shapes, inputs, "the network");
  const EntryIndex<ShapeRange> ranges(shapes);
  nvinfer1::IOptimizationProfile* profile = nullptr;  // the builder's own
  for (int i = 0; i < network.getNbInputs(); ++i) {
    const nvinfer1::ITensor& input = *network.getInput(i);
    const Extents declared = extents(input.getDimensions());
    const ShapeRange* given = ranges.find(input.getName());
    if (given && !input.isShapeTensor())
      for (const Extents* shape : {&given->min, &given->opt, &given->max}) require_fit(input, declared, *shape);
    if (!is_dynamic(declared) && !input.isShapeTensor()) continue;
    ShapeRange range;
    if (given) {
      range = *given;
    } else {
      range.min = range.opt = range.max = default_shape(input, declared);
      log.warn("Dynamic dimensions required for input: ", input.getName(),
               ", but no shapes were provided. Automatically overriding shape to: ", shape_text(range.opt));
    }
    if (!profile) profile = builder.createOptimizationProfile();
    require(profile != nullptr, "no optimization profile: the message above says why");
    set_range(*profile, input, range);
    log.info("Set ", input.isShapeTensor() ? "input shape tensor " : "shape of input tensor ", input.getName(),
             " for optimization profile 0 to: MIN=", shape_text(range.min), " OPT=", shape_text(range.opt),
             " MAX=", shape_text(range.max));
  }
  if (!profile) return;
  require(profile->isValid(), "the shapes contradict each other: min <= opt <= max must hold for every extent");
  require(config.addOptimizationProfile(profile) >= 0,
          "the optimization profile was refused: the message above says why");
}

}  // namespace kiln::cli::trtexec
