// Plans that are cut, damaged, foreign or of another version, through IRuntime.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "program.h"

namespace robustness {
namespace {

class Plans : public ::testing::Test {
 protected:
  void SetUp() override {
    program_.make_relu();
    const auto plan = program_.build();
    ASSERT_NE(plan, nullptr);
    const auto* const first = static_cast<const char*>(plan->data());
    bytes_.assign(first, first + plan->size());
    runtime_.reset(nv::createInferRuntime(program_.logger));
  }
  nv::ICudaEngine* load(const std::vector<char>& bytes) {
    return runtime_->deserializeCudaEngine(bytes.data(), bytes.size());
  }
  std::string why_not(const std::vector<char>& bytes) {
    program_.logger.take_errors();
    EXPECT_EQ(load(bytes), nullptr);
    return program_.logger.take_errors();
  }

  Program program_;
  std::vector<char> bytes_;
  std::unique_ptr<nv::IRuntime> runtime_;
};

TEST_F(Plans, CutAtEveryLength) {
  for (size_t length = 0; length < bytes_.size(); ++length)
    ASSERT_NE(why_not({bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(length)}), "") << length;
  EXPECT_TRUE(process_is_fine());
}

TEST_F(Plans, EveryFlippedBitIsAnswered) {
  int refused = 0;
  for (size_t i = 0; i < bytes_.size(); ++i) {
    std::vector<char> damaged = bytes_;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    const std::unique_ptr<nv::ICudaEngine> engine(load(damaged));
    refused += engine == nullptr;
    EXPECT_EQ(engine == nullptr, program_.logger.take_errors() != "") << "byte " << i;
  }
  // Only padding between sections may change unseen.
  EXPECT_GT(refused, static_cast<int>(bytes_.size()) / 2);
  EXPECT_TRUE(process_is_fine());
}

TEST_F(Plans, WhatFollowsIsRefused) {
  std::vector<char> longer = bytes_;
  longer.resize(longer.size() + 1000, '\7');
  EXPECT_NE(why_not(longer).find("the 1000 behind the plan's end do not belong to it"), std::string::npos);
}

TEST_F(Plans, NoiseAndNothing) {
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    std::vector<char> noise(random() % 4096);
    for (char& byte : noise) byte = static_cast<char>(random());
    ASSERT_NE(why_not(noise), "");
  }
  EXPECT_NE(why_not(std::vector<char>(1 << 16)), "");
  EXPECT_NE(why_not({'o', 'n', 'n', 'x'}).find("deserializeCudaEngine"), std::string::npos);
}

TEST_F(Plans, ARealTensorRTPlan) {
  std::vector<char> theirs(4096, '\0');
  std::memcpy(theirs.data(), "ftrt", 4);  // as engines of TensorRT begin
  const std::string said = why_not(theirs);
  EXPECT_NE(said.find("TensorRT"), std::string::npos) << said;
}

TEST_F(Plans, AnotherVersion) {
  // The version follows the magic: PlanReader.AnotherVersionNamesBothAndTheRemedy has the text.
  std::vector<char> newer = bytes_;
  bool told = false;
  for (size_t at = 0; at < 64 && !told; ++at) {
    newer = bytes_;
    newer[at] = static_cast<char>(newer[at] + 1);
    told = why_not(newer).find("version") != std::string::npos;
  }
  EXPECT_TRUE(told) << "no number of the header is a version";
}

struct Reader final : nv::IStreamReaderV2 {
  enum class Habit { kWhole, kDribble, kFails, kLies, kEnds };
  Reader(const std::vector<char>& bytes, Habit habit) : bytes(bytes), habit(habit) {}
  int64_t read(void* to, int64_t count, cudaStream_t) noexcept override {
    const auto left = static_cast<int64_t>(bytes.size()) - at;
    int64_t taken = std::min(count, left);
    if (habit == Habit::kDribble) taken = std::min<int64_t>(taken, 7);
    if (habit == Habit::kEnds) taken = std::min<int64_t>(taken, std::max<int64_t>(0, 100 - at));
    if (habit == Habit::kFails && at > 64) return -1;
    if (habit == Habit::kLies) return count + 1;
    std::memcpy(to, bytes.data() + at, static_cast<size_t>(taken));
    at += taken;
    return taken;
  }
  bool seek(int64_t, nv::SeekPosition) noexcept override { return false; }
  const std::vector<char>& bytes;
  const Habit habit;
  int64_t at = 0;
};

TEST_F(Plans, Streams) {
  using enum Reader::Habit;
  for (const auto habit : {kWhole, kDribble}) {
    Reader reader(bytes_, habit);
    const std::unique_ptr<nv::ICudaEngine> engine(runtime_->deserializeCudaEngine(reader));
    EXPECT_NE(engine, nullptr) << program_.logger.take_errors();
  }
  for (const auto habit : {kFails, kLies, kEnds}) {
    Reader reader(bytes_, habit);
    EXPECT_EQ(runtime_->deserializeCudaEngine(reader), nullptr);
    EXPECT_NE(program_.logger.take_errors(), "");
  }
}

struct Writer final : nv::IStreamWriter {
  explicit Writer(int64_t room) : room(room) {}
  int64_t write(const void*, int64_t count) override {
    const int64_t taken = std::min(count, room - size);
    size += taken;
    return taken;
  }
  const int64_t room;
  int64_t size = 0;
};

TEST_F(Plans, AWriterThatIsFull) {
  for (const int64_t room : {int64_t{0}, int64_t{10}, static_cast<int64_t>(bytes_.size()) - 1}) {
    Writer full(room);
    EXPECT_FALSE(program_.builder->buildSerializedNetworkToStream(*program_.network, *program_.config, full));
    EXPECT_NE(program_.logger.take_errors().find("the stream writer answered"), std::string::npos);
  }
  Writer roomy(1 << 20);
  EXPECT_TRUE(program_.builder->buildSerializedNetworkToStream(*program_.network, *program_.config, roomy));
}

}  // namespace
}  // namespace robustness
