#include "plugin_kernels.h"

#include <optional>
#include <stdexcept>
#include <string>

#include "bindings.h"
#include "plugin_shapes.h"

namespace kiln::python {
namespace {

namespace nv = nvinfer1;

/// `tensorrt.ISymExpr`: an argument of a kernel that a program in Python makes.
class Argument final : public nv::ISymExpr {
 public:
  nv::PluginArgType getType() const noexcept override { return type; }
  nv::PluginArgDataType getDataType() const noexcept override { return data_type; }
  void* getExpr() noexcept override {
    return expr ? const_cast<nv::IDimensionExpr*>(expr->expr) : nullptr;  // the interface has no const
  }

  nv::PluginArgType type = nv::PluginArgType::kINT;
  nv::PluginArgDataType data_type = nv::PluginArgDataType::kINT32;
  std::optional<DimensionExpr> expr;
};

/// An object that C++ has for one call.
template <class Api>
struct OfLaunch {
  Api* object;
  std::shared_ptr<KernelCall> call;

  Api& get() const {
    if (!call->is_open) throw std::runtime_error("launch parameters are used after the call that they were given to");
    return *object;
  }
  /// `argument` as C++ takes it, which lives as long as C++ may read it.
  nv::ISymExpr* keep(nb::object argument) const {
    Argument* made = nullptr;
    if (!nb::try_cast(argument, made) || made == nullptr) {
      const auto type = nb::cast<std::string>(argument.type().attr("__name__"));
      throw nb::type_error(("an ISymExpr is needed, not " + type).c_str());
    }
    if (!made->getExpr()) throw nb::value_error("an ISymExpr is set whose expr is not");
    call->arguments.push_back(std::move(argument));
    return made;
  }
};
using LaunchParams = OfLaunch<nv::IKernelLaunchParams>;
using Arguments = OfLaunch<nv::ISymExprs>;

/// The object that Python made of an argument that is set; None for another.
nb::object show(nv::ISymExpr* argument, const KernelCall& call) {
  for (const nb::object& one : call.arguments)
    if (nb::cast<Argument*>(one) == argument) return one;
  return nb::none();
}

using Params = nv::IKernelLaunchParams;

template <auto kGet, auto kSet>
void bind_param(nb::class_<LaunchParams>& params, const std::string& name, const char* words) {
  const std::string getter = "def " + name + "(self) -> ISymExpr";
  const std::string setter = "def " + name + "(self, value: ISymExpr, /) -> None";
  params.def_prop_rw(
      name.c_str(), [](const LaunchParams& self) { return show((self.get().*kGet)(), *self.call); },
      [](const LaunchParams& self, nb::object value) { (self.get().*kSet)(self.keep(std::move(value))); },
      nb::for_getter(nb::sig(getter.c_str())), nb::for_setter(nb::sig(setter.c_str())), words);
}

void bind_launch_params(nb::module_& m) {
  nb::class_<LaunchParams> params(m, "KernelLaunchParams",
                                  "How a kernel of a quick plugin is launched; get_launch_params sets it.");
  bind_param<&Params::getGridX, &Params::setGridX>(params, "grid_x", "ISymExpr: blocks along x.");
  bind_param<&Params::getGridY, &Params::setGridY>(params, "grid_y", "ISymExpr: blocks along y.");
  bind_param<&Params::getGridZ, &Params::setGridZ>(params, "grid_z", "ISymExpr: blocks along z.");
  bind_param<&Params::getBlockX, &Params::setBlockX>(params, "block_x", "ISymExpr: threads of a block along x.");
  bind_param<&Params::getBlockY, &Params::setBlockY>(params, "block_y", "ISymExpr: threads of a block along y.");
  bind_param<&Params::getBlockZ, &Params::setBlockZ>(params, "block_z", "ISymExpr: threads of a block along z.");
  bind_param<&Params::getSharedMem, &Params::setSharedMem>(params, "shared_mem",
                                                           "ISymExpr: bytes of shared memory of a block.");
}

int32_t position(const Arguments& self, int64_t index) {
  const int64_t count = self.get().getNbSymExprs();
  if (index < 0 || index >= count)
    throw nb::index_error((std::to_string(index) + " is outside of " + std::to_string(count) + " arguments").c_str());
  return static_cast<int32_t>(index);
}

void set_count(const Arguments& self, int32_t count) {
  if (count < 0 || !self.get().setNbSymExprs(count)) throw nb::value_error("the number of arguments is not possible");
}

bool set_argument(const Arguments& self, int64_t index, nb::object value) {
  return self.get().setSymExpr(position(self, index), self.keep(std::move(value)));
}

void bind_arguments(nb::module_& m) {
  nb::class_<Arguments>(m, "ISymExprs", "The scalars of a kernel, after its inputs and before its outputs.")
      .def_prop_rw(
          "nbSymExprs", [](const Arguments& self) { return self.get().getNbSymExprs(); }, &set_count,
          "int: their number, set before they are.")
      .def("__len__", [](const Arguments& self) { return self.get().getNbSymExprs(); })
      .def(
          "__getitem__",
          [](const Arguments& self, int64_t i) { return show(self.get().getSymExpr(position(self, i)), *self.call); },
          nb::sig("def __getitem__(self, arg: int, /) -> ISymExpr"))
      .def("__setitem__", &set_argument, nb::sig("def __setitem__(self, arg0: int, arg1: ISymExpr, /) -> bool"));
}

}  // namespace

nb::object show_launch_params(nv::IKernelLaunchParams* launch, std::shared_ptr<KernelCall> call) {
  return nb::cast(LaunchParams{launch, std::move(call)});
}

nb::object show_arguments(nv::ISymExprs* arguments, std::shared_ptr<KernelCall> call) {
  return nb::cast(Arguments{arguments, std::move(call)});
}

void bind_plugin_kernels(nb::module_& m) {
  nb::class_<Argument>(m, "ISymExpr", "A number that a kernel is launched with, as an expression of extents.")
      .def(nb::init<>())
      .def_rw("type", &Argument::type, "PluginArgType: kind of the number.")
      .def_rw("dtype", &Argument::data_type, "PluginArgDataType: its type as the kernel takes it.")
      .def_prop_rw(
          "expr", [](const Argument& self) { return self.expr ? nb::cast(*self.expr) : nb::none(); },
          [](Argument& self, const DimensionExpr& expr) { self.expr = expr; }, "IDimensionExpr: its value.");
  bind_launch_params(m);
  bind_arguments(m);
}

}  // namespace kiln::python
