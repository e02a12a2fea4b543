// Loops and conditionals with the layers at their boundaries.

#include <NvInfer.h>

#include "layer_class.h"

namespace kiln::python {

using namespace nvinfer1;

namespace {

void bind_loop_layers(nb::module_& m) {
  layer_class<ILoopBoundaryLayer>(m, "ILoopBoundaryLayer", "Base of the layers at the boundary of a loop.")
      .def_prop_ro("loop", &ILoopBoundaryLayer::getLoop, "The loop.");
  layer_class<IRecurrenceLayer, ILoopBoundaryLayer>(m, "IRecurrenceLayer",
                                                    "A value that goes from iteration to iteration.")
      .def("set_input", &IRecurrenceLayer::setInput, "index"_a, "tensor"_a,
           "Sets the value of the first iteration (0) or, once at least, that of the next iteration (1).");
  layer_class<ILoopOutputLayer, ILoopBoundaryLayer>(m, "ILoopOutputLayer", "A value that leaves a loop.")
      .def("set_input", &ILoopOutputLayer::setInput, "index"_a, "tensor"_a,
           "Sets the value inside of the loop (0), or the number of iterations that are joined (1): an INT32 scalar, "
           "needed by CONCATENATE and REVERSE.")
      .def_prop_rw("axis", &ILoopOutputLayer::getAxis, &ILoopOutputLayer::setAxis,
                   "Axis along which iterations are joined.")
      .def_prop_ro("kind", &ILoopOutputLayer::getLoopOutput, "LoopOutput: the last value, or all values joined.");
  layer_class<ITripLimitLayer, ILoopBoundaryLayer>(m, "ITripLimitLayer", "What ends a loop.")
      .def_prop_ro("kind", &ITripLimitLayer::getTripLimit, "TripLimit: a number of iterations, or a condition.");
  layer_class<IIteratorLayer, ILoopBoundaryLayer>(m, "IIteratorLayer",
                                                  "The slice of a tensor that belongs to an iteration.")
      .def_prop_rw("axis", &IIteratorLayer::getAxis, &IIteratorLayer::setAxis, "Axis that is cut into slices.")
      .def_prop_rw("reverse", &IIteratorLayer::getReverse, &IIteratorLayer::setReverse,
                   "Whether the last slice comes first.");
}

void bind_loop(nb::module_& m) {
  nb::class_<ILoop>(m, "ILoop", nb::is_weak_referenceable(),
                    "A loop of a network; layers at its boundary say what is in it.")
      .def("add_recurrence", &ILoop::addRecurrence, "initial_value"_a, nb::rv_policy::reference_internal,
           "Adds a value that goes from iteration to iteration; None on an error.")
      .def(
          "add_trip_limit", &ILoop::addTripLimit, "tensor"_a, "kind"_a, nb::rv_policy::reference_internal,
          "Ends the loop after a number of iterations (an INT32 or INT64 scalar) or when a BOOL scalar inside of it is "
          "false; None on an error.")
      .def("add_iterator", &ILoop::addIterator, "tensor"_a, "axis"_a = 0, "reverse"_a = false,
           nb::rv_policy::reference_internal, "Gives each iteration its slice of a tensor; None on an error.")
      .def("add_loop_output", &ILoop::addLoopOutput, "tensor"_a, "kind"_a, "axis"_a = 0,
           nb::rv_policy::reference_internal, "Makes a value inside of the loop one outside of it; None on an error.")
      .def_prop_rw("name", &ILoop::getName, &ILoop::setName, "Name of the loop.");
}

void bind_conditional(nb::module_& m) {
  layer_class<IIfConditionalBoundaryLayer>(m, "IIfConditionalBoundaryLayer",
                                           "Base of the layers at the boundary of a conditional.")
      .def_prop_ro("conditional", &IIfConditionalBoundaryLayer::getConditional, "The conditional.");
  layer_class<IIfConditionalOutputLayer, IIfConditionalBoundaryLayer>(
      m, "IIfConditionalOutputLayer", "Input 0 where the condition holds, else input 1.");
  layer_class<IIfConditionalInputLayer, IIfConditionalBoundaryLayer>(m, "IIfConditionalInputLayer",
                                                                     "A value that enters a conditional.");
  layer_class<IConditionLayer, IIfConditionalBoundaryLayer>(m, "IConditionLayer", "The condition of a conditional.");
  nb::class_<IIfConditional>(m, "IIfConditional", nb::is_weak_referenceable(),
                             "A conditional: one of two parts of a network is computed.")
      .def("set_condition", &IIfConditional::setCondition, "condition"_a, nb::rv_policy::reference_internal,
           "Sets the condition, a BOOL scalar; None on an error.")
      .def("add_output", &IIfConditional::addOutput, "true_subgraph_output"_a, "false_subgraph_output"_a,
           nb::rv_policy::reference_internal,
           "Adds an output: the first tensor where the condition holds, else the second; None on an error.")
      .def("add_input", &IIfConditional::addInput, "input"_a, nb::rv_policy::reference_internal,
           "Lets a tensor into the conditional; None on an error.")
      .def_prop_rw("name", &IIfConditional::getName, &IIfConditional::setName, "Name of the conditional.");
}

}  // namespace

void bind_loops(nb::module_& m) {
  bind_loop_layers(m);
  bind_loop(m);
  bind_conditional(m);
}

}  // namespace kiln::python
