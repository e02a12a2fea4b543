// IOptimizationProfile: the shapes that an engine is built for.

#include <NvInfer.h>

#include <string>
#include <vector>

#include "bindings.h"
#include "convert.h"

namespace kiln::python {
namespace {

using nvinfer1::Dims, nvinfer1::IOptimizationProfile, nvinfer1::OptProfileSelector;
using Values = std::vector<int64_t>;

struct Selected {
  OptProfileSelector which;
  const char* name;
};
constexpr Selected kSelected[] = {
    {OptProfileSelector::kMIN, "min"}, {OptProfileSelector::kOPT, "opt"}, {OptProfileSelector::kMAX, "max"}};

[[noreturn]] void refuse(const std::string& input, const char* which) {
  throw std::runtime_error(str("input '", input, "': its ", which, " is refused; the log says why"));
}

void set_shape(IOptimizationProfile& self, const std::string& input, const Dims& min, const Dims& opt,
               const Dims& max) {
  const Dims* shapes[] = {&min, &opt, &max};
  for (int i = 0; i < 3; ++i)
    if (!self.setDimensions(input.c_str(), kSelected[i].which, *shapes[i])) refuse(input, kSelected[i].name);
}

std::vector<Dims> get_shape(const IOptimizationProfile& self, const std::string& input) {
  std::vector<Dims> shapes;
  if (self.getDimensions(input.c_str(), OptProfileSelector::kMIN).nbDims < 0) return shapes;
  for (const Selected& selected : kSelected) shapes.push_back(self.getDimensions(input.c_str(), selected.which));
  return shapes;
}

void set_shape_input(IOptimizationProfile& self, const std::string& input, const Values& min, const Values& opt,
                     const Values& max) {
  const Values* values[] = {&min, &opt, &max};
  for (int i = 0; i < 3; ++i) {
    const auto count = static_cast<int32_t>(values[i]->size());
    if (!self.setShapeValuesV2(input.c_str(), kSelected[i].which, values[i]->data(), count))
      refuse(input, kSelected[i].name);
  }
}

std::vector<Values> get_shape_input(const IOptimizationProfile& self, const std::string& input) {
  std::vector<Values> result;
  const int32_t count = self.getNbShapeValues(input.c_str());
  for (const Selected& selected : kSelected) {
    const int64_t* values = self.getShapeValuesV2(input.c_str(), selected.which);
    if (values == nullptr || count < 0) return {};
    result.emplace_back(values, values + count);
  }
  return result;
}

}  // namespace

void bind_profile(nb::module_& m) {
  nb::class_<IOptimizationProfile>(
      m, "IOptimizationProfile", nb::is_weak_referenceable(),
      "The smallest, the likely and the largest shape of each input whose shape is not fixed.")
      .def("set_shape", &set_shape, "input"_a, "min"_a, "opt"_a, "max"_a,
           "Sets the three shapes of an input. Raises RuntimeError where they do not fit each other.")
      .def("get_shape", &get_shape, "input"_a, "The three shapes of an input; an empty list where none are set.")
      .def("set_shape_input", &set_shape_input, "input"_a, "min"_a, "opt"_a, "max"_a,
           "Sets the three lists of values of a shape input. Raises RuntimeError where they do not fit each other.")
      .def("get_shape_input", &get_shape_input, "input"_a,
           "The three lists of values of a shape input; an empty list where none are set.")
      .def_prop_rw("extra_memory_target", &IOptimizationProfile::getExtraMemoryTarget,
                   &IOptimizationProfile::setExtraMemoryTarget,
                   "How much more memory than the smallest is worth using, from 0 to 1.")
      .def("__nonzero__", &IOptimizationProfile::isValid, "Whether each input has three shapes that fit.")
      .def("__bool__", &IOptimizationProfile::isValid, "Whether each input has three shapes that fit.");
}

}  // namespace kiln::python
