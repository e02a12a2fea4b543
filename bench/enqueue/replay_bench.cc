// Host time of enqueueV3 where a recording replays, beside the driver's share of it: what cuGraphLaunch and
// cuEventRecord of a graph of the same kernels take, in the same run. With --nodes also which kernel makes the launch
// dear.
#include <NvInfer.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <thread>

#include "cli/flags.h"
#include "cli/shapes.h"
#include "cli/statistics.h"
#include "driver_calls.h"

namespace kiln::bench {
namespace {

namespace nv = nvinfer1;
using Clock = std::chrono::steady_clock;
using Work = std::function<void()>;

constexpr cli::Flag kFlags[] = {
    {"--shapes", "name:extents,...", "Options", "of inputs; the profile's optimum where none is given"},
    {"--runs", "N", "Options", "that a median is of, default 200"},
    {"--nodes", "", "Options", "print each kernel, what it costs alone, and what the graph costs up to it"},
    {"--help", "", "Options", "print this"},
};
constexpr int kInARow = 8;

class Logger final : public nv::ILogger {
  void log(Severity severity, const char* text) noexcept override {
    if (severity <= Severity::kWARNING) std::fprintf(stderr, "%s\n", text);
  }
};

void check(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

/// A plan with inputs of zeros, ready to run.
class Network {
 public:
  Network(const std::string& file, const cli::NamedExtents& shapes) {
    std::ifstream stream(file, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    runtime_.reset(nv::createInferRuntime(logger_));
    engine_.reset(runtime_->deserializeCudaEngine(bytes.data(), bytes.size()));
    check(engine_ != nullptr, "the plan does not load");
    context_.reset(engine_->createExecutionContext());
    check(context_ != nullptr, "there is no context");
    const cli::EntryIndex<cli::Extents> named(shapes);
    for (int i = 0; i < engine_->getNbIOTensors(); ++i) set_shape(engine_->getIOTensorName(i), named);
    for (int i = 0; i < engine_->getNbIOTensors(); ++i) set_address(engine_->getIOTensorName(i));
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking) == cudaSuccess, "there is no stream");
    check(cudaDeviceSynchronize() == cudaSuccess, "the GPU fails");
  }
  void enqueue() { check(context_->enqueueV3(stream_), "enqueueV3 failed"); }
  cudaStream_t stream() const { return stream_; }

 private:
  void set_shape(const char* name, const cli::EntryIndex<cli::Extents>& named) {
    if (engine_->getTensorIOMode(name) != nv::TensorIOMode::kINPUT) return;
    nv::Dims shape = engine_->getProfileShape(name, 0, nv::OptProfileSelector::kOPT);
    if (shape.nbDims < 0) shape = engine_->getTensorShape(name);
    if (const cli::Extents* given = named.find(name)) {
      shape.nbDims = static_cast<int32_t>(given->size());
      std::ranges::copy(*given, shape.d);
    }
    check(context_->setInputShape(name, shape), "setInputShape failed");
  }
  void set_address(const char* name) {
    const nv::Dims shape = context_->getTensorShape(name);
    size_t bytes = 8 * 64;  // of the largest type, and a block of channels
    for (int axis = 0; axis < shape.nbDims; ++axis) bytes *= static_cast<size_t>(std::max<int64_t>(shape.d[axis], 1));
    void* data = nullptr;
    if (engine_->getTensorLocation(name) == nv::TensorLocation::kHOST)
      data = std::calloc(bytes, 1);  // until the end, as the GPU's is
    else
      check(cudaMalloc(&data, bytes) == cudaSuccess && cudaMemset(data, 0, bytes) == cudaSuccess, "no memory");
    check(context_->setTensorAddress(name, data), "setTensorAddress failed");
  }

  Logger logger_;
  std::unique_ptr<nv::IRuntime> runtime_;
  std::unique_ptr<nv::ICudaEngine> engine_;
  std::unique_ptr<nv::IExecutionContext> context_;
  cudaStream_t stream_ = nullptr;
};

double time_us(const Work& work) {
  const Clock::time_point start = Clock::now();
  work();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// Something whose host time is measured, in the situations that programs call it in.
struct Subject {
  const char* name;
  Work call;
  Work before;  ///< a run that is waited for in front of each
};

class Bench {
 public:
  Bench(const Driver& driver, Network& network, int runs) : driver_(driver), network_(network), runs_(runs) {
    for (int i = 0; i < 16; ++i) network_.enqueue(), wait();  // the first ones launch step by step, then record
    driver_.begin_capture(stream(), 2);                       // relaxed
    network_.enqueue();
    driver_.end_capture(stream(), &graph_);
    driver_.event_create(&event_, 2);  // without a time
    driver_.instantiate(&exec_, graph_, 0);
  }

  void print_facts() const {
    const std::vector<Handle> nodes = nodes_of(driver_, graph_);
    std::map<std::string, int> by_type;
    size_t bytes = 0, local = 0;
    for (const Handle node : nodes) {
      const NodeFacts facts = facts_of(driver_, node);
      ++by_type[facts.type];
      local += facts.local_bytes > 0 ? 1 : 0;
      bytes += facts.parameter_bytes;
    }
    std::printf("nodes:");
    for (const auto& [type, count] : by_type) std::printf(" %d %s,", count, type.c_str());
    std::printf(" %zu with local memory, %zu bytes of parameters\n", local, bytes);
  }

  void print_subjects() {
    const Work whole = [this] { driver_.graph_launch(exec_, stream()); };
    const Work enqueue = [this] { network_.enqueue(); };
    const Work record = [this] { driver_.event_record(event_, stream(), 0); };
    std::vector<Subject> subjects = {{"enqueueV3", enqueue, enqueue},
                                     {"cuGraphLaunch and cuEventRecord", [=] { whole(), record(); }, whole},
                                     {"cuGraphLaunch", whole, whole},
                                     {"cuEventRecord", record, whole}};
    if (driver_.graph_clone.is_there()) {
      const Handle first = part_of(driver_, graph_, 0, 1), line = line_of(driver_, graph_);
      const Work launch_line = [this, line] { driver_.graph_launch(line, stream()); };
      subjects.push_back(
          {"cuGraphLaunch, the first node alone", [this, first] { driver_.graph_launch(first, stream()); }, whole});
      if (line) subjects.push_back({"cuGraphLaunch, no programmatic launches", launch_line, launch_line});
    }
    std::printf("host time, us: medians of %d\n%-42s%14s%14s%14s%14s%14s\n", runs_, "", "after a wait", "90 % within",
                "after polling", "after 1 ms", "in a row");
    for (const Subject& subject : subjects) print(subject);
  }

  void print_nodes() {
    const std::vector<Handle> nodes = nodes_of(driver_, graph_);
    const Work whole = [this] { driver_.graph_launch(exec_, stream()); };
    std::printf("%5s%14s%14s  what\n", "node", "alone, us", "up to it, us");
    for (size_t i = 0; i < nodes.size(); ++i) {
      const double alone = median_of_part(i, 1), up_to = median_of_part(0, i + 1);
      const NodeFacts facts = facts_of(driver_, nodes[i]);
      std::printf("%5zu%14.2f%14.2f  %s %s\n", i, alone, up_to, facts.type.c_str(), facts.text.c_str());
    }
  }

 private:
  Handle stream() const { return network_.stream(); }
  void wait() const { driver_.synchronize(stream()); }
  void poll() const {
    while (cudaStreamQuery(network_.stream()) == cudaErrorNotReady) {
    }
  }

  /// Times of the subject where `wait` is what follows the run in front of it.
  std::vector<double> times_after(const Subject& subject, const Work& wait_for) const {
    std::vector<double> times;
    for (int i = 0; i < runs_; ++i) {
      subject.before();
      wait_for();
      times.push_back(time_us(subject.call));
      wait();
    }
    return times;
  }
  /// Times of calls in front of which others are queued or run.
  std::vector<double> times_in_a_row(const Subject& subject) const {
    std::vector<double> times;
    while (std::ssize(times) < runs_) {
      subject.before();
      for (int i = 0; i < kInARow; ++i) times.push_back(time_us(subject.call));
      wait();
    }
    return times;
  }
  void print(const Subject& subject) const {
    std::vector<double> waited = times_after(subject, [this] { wait(); });
    const auto after_idling = [this] {
      wait();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    std::ranges::sort(waited);
    std::printf("%-42s%14.2f%14.2f%14.2f%14.2f%14.2f\n", subject.name, cli::median(waited),
                cli::percentile_of(waited, 90), cli::median(times_after(subject, [this] { poll(); })),
                cli::median(times_after(subject, after_idling)), cli::median(times_in_a_row(subject)));
  }
  double median_of_part(size_t first, size_t count) const {
    const Handle exec = part_of(driver_, graph_, first, count);
    const Work launch = [this, exec] { driver_.graph_launch(exec, stream()); };
    const double median = cli::median(times_after({"", launch, launch}, [this] { wait(); }));
    driver_.exec_destroy(exec);
    return median;
  }

  const Driver& driver_;
  Network& network_;
  const int runs_;
  Handle graph_ = nullptr, exec_ = nullptr, event_ = nullptr;
};

void run(const cli::Arguments& arguments) {
  cli::require(arguments.operands().size() == 1, "usage: bench_replay PLAN [flags]; --help lists them");
  const Driver driver = Driver::load();
  int runs = 200, device = 0;
  arguments.read("--runs", runs, 1);
  check(cudaSetDevice(0) == cudaSuccess, "there is no GPU");
  Handle context = nullptr;
  driver.device_get(&device, 0);
  driver.primary_context_retain(&context, device);
  driver.context_set_current(context);
  cli::NamedExtents shapes;
  if (arguments.has("--shapes")) shapes = cli::parse_shapes(arguments.text("--shapes"), "--shapes");
  Network network(arguments.operands()[0], shapes);
  Bench bench(driver, network, runs);
  bench.print_facts();
  bench.print_subjects();
  if (arguments.has("--nodes")) bench.print_nodes();
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) {
  try {
    const std::span<const char* const> words(argv + 1, static_cast<size_t>(argc) - 1);
    if (kiln::cli::wants_help(words))
      std::puts(kiln::cli::help_text("bench_replay PLAN [flags]\n", {kiln::bench::kFlags}).c_str());
    else
      kiln::bench::run(kiln::cli::Arguments(words, {kiln::bench::kFlags}));
    return 0;
  } catch (const std::exception& failed) {
    std::fprintf(stderr, "bench_replay: %s\n", failed.what());
    return 1;
  }
}
