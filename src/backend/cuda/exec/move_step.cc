#include "backend/cuda/exec/move_step.h"

#include <algorithm>

namespace kiln::cuda {

LoadResult load_moves(const LoadArguments& arguments, MovePlanner planner) {
  StepCode code = TRY(StepCode::load(arguments));
  StepInputs inputs = TRY(StepInputs::upload(arguments));
  return loaded_step(
      [planner = std::move(planner), functions = MoveFunctions(code.module()), code, inputs = std::move(inputs),
       bytes = std::max(bits_of(arguments.spec.outputs[0].dtype) / 8, 1),
       num_sms = arguments.device.properties().num_multiprocessors](const StepShapes& shapes) -> BindResult {
        Move move = TRY(Move::plan(functions, bytes, TRY(planner(shapes)), num_sms));
        return bound_step([&inputs, move = std::move(move),
                           sources = std::vector<const void*>(inputs.size())](const RunArguments& run) mutable {
          for (size_t i = 0; i < sources.size(); ++i) sources[i] = inputs.at(i, run);
          return move.run(*run.stream, sources.data(), run.outputs[0]);
        });
      });
}

}  // namespace kiln::cuda
