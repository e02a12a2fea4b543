/// A condition on data: the builder makes it of assertions.
#include "ops/run_time_assertion.h"

#include "api/build/layers/layers.h"

namespace kiln::api {

MakeLayer maker_of(Tag<ops::RunTimeAssertion>) { return make<LayerAsIdentity<ops::RunTimeAssertion>>; }

}  // namespace kiln::api
