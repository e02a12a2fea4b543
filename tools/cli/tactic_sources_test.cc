#include "tactic_sources.h"

#include <gtest/gtest.h>

#include "expect_failure.h"

namespace kiln::cli {
namespace {

constexpr uint32_t kCublas = 1, kCublasLt = 2, kCudnn = 4, kEdgeMask = 8, kJit = 16;

std::string failure(std::string_view list) {
  return failure_of([&] { parse_tactic_sources(list); });
}

TEST(TacticSources, AddAndLeaveOut) {
  const TacticSourceChoice choice = parse_tactic_sources("-CUDNN, +cublas_lt,+Jit_Convolutions");
  EXPECT_EQ(choice.on, kCublasLt | kJit);
  EXPECT_EQ(choice.off, kCudnn);
  EXPECT_EQ(choice.applied_to(kCudnn | kEdgeMask), kCublasLt | kJit | kEdgeMask);
  EXPECT_EQ(parse_tactic_sources("+CUBLASLT").on, kCublasLt);
  EXPECT_EQ(parse_tactic_sources("-CUBLAS,-EDGE_MASK_CONVOLUTIONS").off, kCublas | kEdgeMask);
  EXPECT_EQ(TacticSourceChoice{}.applied_to(kJit), kJit);
  EXPECT_TRUE(choice.takes("CUBLAS_LT", false) && !choice.takes("CUDNN", true));
  EXPECT_TRUE(choice.takes("CUBLAS", true) && !choice.takes("CUBLAS", false));
}

TEST(TacticSources, AreDescribedInTensorRTsWords) {
  EXPECT_EQ(describe(TacticSourceChoice{}), "Using default tactic sources");
  EXPECT_EQ(describe(parse_tactic_sources("-CUDNN,+CUBLAS_LT")), "cublasLt [ON], cudnn [OFF], ");
  EXPECT_EQ(describe(parse_tactic_sources("+JIT_CONVOLUTIONS,-EDGE_MASK_CONVOLUTIONS,-CUBLAS")),
            "cublas [OFF], edge mask convolutions [OFF], JIT convolutions [ON], ");
}

TEST(TacticSources, SayWhatIsWrong) {
  EXPECT_EQ(failure("CUDNN"), "--tacticSources: 'CUDNN' begins with neither + (take kernels from there) nor - (don't)");
  EXPECT_EQ(failure("+CUFFT"),
            "--tacticSources: 'CUFFT' is not a source; there are CUBLAS, CUBLAS_LT, CUDNN, EDGE_MASK_CONVOLUTIONS, "
            "JIT_CONVOLUTIONS");
  EXPECT_EQ(failure("+CUDNN,-cudnn"), "--tacticSources: 'cudnn' is both added and left out");
  EXPECT_EQ(failure("+CUDNN,,"), "--tacticSources: '' begins with neither + (take kernels from there) nor - (don't)");
}

}  // namespace
}  // namespace kiln::cli
