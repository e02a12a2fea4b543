#include "plugin_shapes.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>

#include "bindings.h"
#include "plugin_calls.h"

namespace kiln::python {

namespace nv = nvinfer1;

nv::IExprBuilder& ShapeCall::open_builder() const {
  if (!builder) throw std::runtime_error("an expression or its builder is used after the call that it was given to");
  return *builder;
}

const nv::IDimensionExpr& DimensionExpr::get() const {
  call->open_builder();
  return *expr;
}

ShapeExprs::ShapeExprs(const nv::DimsExprs& dims, const std::shared_ptr<const ShapeCall>& call) {
  for (int32_t i = 0; i < dims.nbDims; ++i) extents.push_back(DimensionExpr{dims.d[i], call});
}

nv::DimsExprs ShapeExprs::to_api(const ShapeCall& call) const {
  nv::DimsExprs dims{};
  for (const std::optional<DimensionExpr>& extent : extents) {
    if (extent && extent->call.get() != &call)
      throw std::runtime_error("a DimsExprs has an expression that another call was given");
    dims.d[dims.nbDims++] = extent ? extent->expr : nullptr;
  }
  return dims;
}

nb::list ShapeScope::list_of(const nv::DimsExprs* dims, int32_t count) const {
  nb::list list;
  for (int32_t i = 0; i < count; ++i) list.append(nb::cast(ShapeExprs(dims[i], call_)));
  return list;
}

void ShapeScope::write(nb::handle result, nv::DimsExprs* dims, int32_t count) const {
  const auto shapes = results_as<ShapeExprs>(result, "a list of DimsExprs");
  if (std::ssize(shapes) != count)
    throw nb::value_error(
        ("it returned " + std::to_string(shapes.size()) + " shapes for " + std::to_string(count) + " outputs").c_str());
  for (const ShapeExprs& shape : shapes) *dims++ = shape.to_api(*call_);
}

namespace {

constexpr auto kMost = static_cast<size_t>(nv::Dims::MAX_DIMS);

void check_rank(size_t rank) {
  if (rank > kMost) throw nb::value_error(("a shape has at most " + std::to_string(kMost) + " extents").c_str());
}

void init_of_rank(ShapeExprs* self, int64_t rank) {
  if (rank < 0) throw nb::value_error("the number of extents is negative");
  check_rank(static_cast<size_t>(rank));
  new (self) ShapeExprs;
  self->extents.resize(static_cast<size_t>(rank));
}

void init_of_extents(ShapeExprs* self, const std::vector<std::optional<DimensionExpr>>& extents) {
  check_rank(extents.size());
  new (self) ShapeExprs;
  self->extents = extents;
}

size_t position(const ShapeExprs& self, int64_t index) {
  const int64_t rank = std::ssize(self.extents), from_start = index < 0 ? index + rank : index;
  if (from_start < 0 || from_start >= rank)
    throw nb::index_error((std::to_string(index) + " is outside of " + std::to_string(rank) + " extents").c_str());
  return static_cast<size_t>(from_start);
}

/// None for a null: an operation that is none, or a size tensor that cannot be.
nb::object made(const nv::IDimensionExpr* expr, const ExprBuilder& builder) {
  return expr ? nb::cast(DimensionExpr{expr, builder.call}) : nb::none();
}

nv::IExprBuilder& builder_of(const ExprBuilder& self) {
  if (!self.call) throw std::runtime_error("an IExprBuilder that a program makes has no expressions");
  return self.call->open_builder();
}

const nv::IDimensionExpr& operand(const ExprBuilder& self, const DimensionExpr& expr) {
  if (expr.call != self.call) throw nb::value_error("an operand is an expression that another call was given");
  return expr.get();
}

nb::object operation(const ExprBuilder& self, nv::DimensionOperation op, const DimensionExpr& first,
                     const DimensionExpr& second) {
  return made(builder_of(self).operation(op, operand(self, first), operand(self, second)), self);
}

nb::object declare_size_tensor(const ExprBuilder& self, int32_t output, const DimensionExpr& opt,
                               const DimensionExpr& upper) {
  return made(builder_of(self).declareSizeTensor(output, operand(self, opt), operand(self, upper)), self);
}

void bind_expressions(nb::module_& m) {
  nb::class_<DimensionExpr>(m, "IDimensionExpr",
                            "An extent as an expression of the extents of a plugin's inputs. It ends with the call of "
                            "the plugin that it was given to.")
      .def(
          "is_constant", [](const DimensionExpr& self) { return self.get().isConstant(); },
          "Returns whether the extent is known already.")
      .def(
          "get_constant_value", [](const DimensionExpr& self) { return self.get().getConstantValue(); },
          "Returns the extent, if is_constant(); else the least 64-bit integer.")
      .def(
          "is_size_tensor", [](const DimensionExpr& self) { return self.get().isSizeTensor(); },
          "Returns whether declare_size_tensor made it.");

  nb::class_<ShapeExprs>(m, "DimsExprs", "A shape: a sequence of IDimensionExpr.")
      .def(nb::init<>(), "Makes a shape of no extents.")
      .def("__init__", &init_of_rank, "Makes a shape of so many extents, all to be set.")
      .def("__init__", &init_of_extents, "Makes a shape of a sequence of IDimensionExpr.")
      .def("__len__", [](const ShapeExprs& self) { return self.extents.size(); })
      .def("__getitem__", [](const ShapeExprs& self, int64_t i) { return self.extents[position(self, i)]; })
      .def(
          "__setitem__",
          [](ShapeExprs& self, int64_t i, std::optional<DimensionExpr> item) {
            self.extents[position(self, i)] = std::move(item);
          },
          nb::arg(), nb::arg().none());

  nb::class_<ExprBuilder>(m, "IExprBuilder", "Makes expressions for the extents of a plugin's outputs.")
      .def(nb::init<>())
      .def(
          "constant", [](const ExprBuilder& self, int64_t value) { return made(builder_of(self).constant(value), self); },
          "Returns the expression of a number.")
      .def("operation", &operation, "Returns the expression of a DimensionOperation on two expressions.")
      .def("declare_size_tensor", &declare_size_tensor,
           "Returns the expression of an extent that the run decides, at most the third argument, and tells by the "
           "output whose index is given, a scalar of INT32 or INT64. The second argument is a usual extent. None where "
           "the output is none, or was declared before.");
}

}  // namespace

void bind_plugin_shapes(nb::module_& m) {
  bind_expressions(m);
  nb::class_<nv::PluginTensorDesc>(m, "PluginTensorDesc", "Type, format and shape of a plugin's input or output.")
      .def("__init__", [](nv::PluginTensorDesc* self) { new (self) nv::PluginTensorDesc{}; })
      .def_rw("dims", &nv::PluginTensorDesc::dims, "Dims: the shape; -1 where data decides an extent.")
      .def_rw("type", &nv::PluginTensorDesc::type, "DataType: type of the elements.")
      .def_rw("format", &nv::PluginTensorDesc::format, "TensorFormat: how the tensor lies in memory.")
      .def_rw("scale", &nv::PluginTensorDesc::scale, "float: scale of INT8 data.");
  nb::class_<nv::DynamicPluginTensorDesc>(m, "DynamicPluginTensorDesc",
                                          "What a build knows of a plugin's input or output.")
      .def("__init__", [](nv::DynamicPluginTensorDesc* self) { new (self) nv::DynamicPluginTensorDesc{}; })
      .def_rw("desc", &nv::DynamicPluginTensorDesc::desc,
              "PluginTensorDesc: type, format and shape; -1 where an extent is not known.")
      .def_rw("min", &nv::DynamicPluginTensorDesc::min, "Dims: the least extents.")
      .def_rw("opt", &nv::DynamicPluginTensorDesc::opt, "Dims: the extents to optimize for.")
      .def_rw("max", &nv::DynamicPluginTensorDesc::max, "Dims: the most extents.");
}

}  // namespace kiln::python
