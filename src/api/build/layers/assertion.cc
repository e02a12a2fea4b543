/// A condition on shapes.
#include "ops/assertion.h"

#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

Result<std::string> checked_message(const char* message) {
  TRY(require(message != nullptr, "message is null"));
  return message;
}

class AssertionLayer final
    : public LayerOf<ops::Assertion, nv::LayerType::kASSERTION, nv::IAssertionLayer, nv::apiv::VAssertionLayer> {
 public:
  using LayerOf::LayerOf;

  void setMessage(const char* message) noexcept override {
    edit("IAssertionLayer::setMessage", [&](ops::Assertion& op) -> Status {
      op.message = TRY(checked_message(message));
      return {};
    });
  }
  const char* getMessage() const noexcept override { return op().message.c_str(); }
};

}  // namespace

Result<nv::IAssertionLayer*> add_assertion(Network& network, nv::ITensor& condition, const char* message) {
  const ir::ValueId holds = TRY(network.value_of(condition, "condition"));
  if (const auto type = network.graph().inferred_type(holds))
    TRY(require(type->get().dtype == DType::kBool, "the condition is ", type->get(), "; booleans are needed"));
  // One that is false is a network that cannot be built, not a layer that cannot be added.
  return network.add<AssertionLayer>(ops::Assertion{TRY(checked_message(message))}, {holds}, Settings::kToCome);
}
MakeLayer maker_of(Tag<ops::Assertion>) { return make<AssertionLayer>; }

}  // namespace kiln::api
