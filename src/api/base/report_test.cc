#include "api/base/report.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "api/base/create.h"
#include "api/base/guard.h"
#include "api/base/testing/witness.h"

namespace kiln::api {
namespace {

using nvinfer1::ErrorCode;

TEST(Report, TellsLoggerAndRecorder) {
  WitnessLogger logger;
  WitnessRecorder recorder;
  const Reporter reporter(logger, &recorder);
  reporter.report("IRuntime::load", Error{Code::kVersion, "plan: too new"});
  EXPECT_EQ(logger.last(), "IRuntime::load: plan: too new");
  ASSERT_EQ(recorder.getNbErrors(), 1);
  EXPECT_EQ(recorder.getErrorCode(0), ErrorCode::kINVALID_CONFIG);
  EXPECT_STREQ(recorder.getErrorDesc(0), "IRuntime::load: plan: too new");
}

TEST(Report, KeepsTheRecordersLimit) {
  WitnessLogger logger;
  WitnessRecorder recorder;
  const Reporter reporter(logger, &recorder);
  const size_t longest = nvinfer1::IErrorRecorder::kMAX_DESC_LENGTH;
  reporter.report("A::call", Error{Code::kState, std::string(longest, 'x')});
  reporter.report("A::call", Error{Code::kState, std::string(longest + 1, 'x')});
  EXPECT_EQ(recorder.getErrorDesc(0), std::string(longest, 'x'));
  EXPECT_EQ(recorder.getErrorDesc(1), std::string(longest - 3, 'x') + "...");
  EXPECT_EQ(logger.last(), "A::call: " + std::string(longest + 1, 'x'));
}

TEST(Report, CountsReferencesOfRecorders) {
  WitnessLogger logger;
  WitnessRecorder first, second;
  {
    Reporter reporter(logger, &first);
    const Reporter child(reporter);
    EXPECT_EQ(first.references(), 2);
    reporter.set_recorder(&second);
    EXPECT_EQ(first.references(), 1);
    EXPECT_EQ(second.references(), 1);
  }
  EXPECT_EQ(first.references(), 0);
  EXPECT_EQ(second.references(), 0);
}

TEST(Guard, HandsOnValues) {
  WitnessLogger logger;
  const Reporter reporter(logger);
  EXPECT_EQ(guard(reporter, "f", -1, [] { return Result<int>(7); }), 7);
  EXPECT_TRUE(guard(reporter, "f", [] { return Status(); }));
  EXPECT_EQ(logger.num_errors(), 0u);
}

TEST(Guard, TurnsEverythingIntoWords) {
  WitnessLogger logger;
  WitnessRecorder recorder;
  const Reporter reporter(logger, &recorder);
  EXPECT_EQ(guard(reporter, "f", -1, []() -> Result<int> { return error(Code::kState, "not now"); }), -1);
  EXPECT_EQ(logger.last(), "f: not now");
  EXPECT_FALSE(guard(reporter, "f", []() -> Status { throw std::bad_alloc(); }));
  EXPECT_EQ(recorder.getErrorCode(1), ErrorCode::kFAILED_ALLOCATION);
  EXPECT_EQ(logger.last(), "f: out of memory");
  EXPECT_FALSE(guard(reporter, "f", []() -> Status { throw std::runtime_error("surprise"); }));
  EXPECT_EQ(logger.last(), "f: unexpected exception: surprise");
  EXPECT_FALSE(guard(reporter, "f", [] {
    CHECK(1 + 1 == 3);
    return Status();
  }));
  EXPECT_EQ(recorder.getErrorCode(3), ErrorCode::kINTERNAL_ERROR);
  EXPECT_FALSE(guard(reporter, "f", []() -> Status { throw 3; }));
  EXPECT_EQ(missing(reporter, "IRuntime::fly", -1), -1);
  EXPECT_EQ(logger.last(), "IRuntime::fly: not in Kiln yet");
  EXPECT_EQ(recorder.getErrorCode(5), ErrorCode::kUNSUPPORTED_STATE);
}

TEST(Create, AcceptsProgramsOfTheSameMajorVersion) {
  WitnessLogger logger;
  EXPECT_EQ(accept_program(nullptr, "create", NV_TENSORRT_VERSION), nullptr);
  EXPECT_EQ(accept_program(&logger, "create", NV_TENSORRT_VERSION), &logger);
  EXPECT_EQ(accept_program(&logger, "create", 100000), &logger);
  EXPECT_EQ(logger.num_errors(), 0u);
  EXPECT_EQ(accept_program(&logger, "create", 80600), nullptr);
  EXPECT_EQ(logger.last(), "create: the program was compiled for version 80600, this library is version 101600");
  EXPECT_EQ(accept_program(&logger, "create", NV_TENSORRT_VERSION + 100), nullptr);
}

}  // namespace
}  // namespace kiln::api
