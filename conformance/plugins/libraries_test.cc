// Libraries of plugins: loaded, counted, unloaded, and everything that may be wrong with one.
#include <NvInfer.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

namespace {

namespace fs = std::filesystem;

/// Keeps errors, and the other messages apart.
class Logger final : public nvinfer1::ILogger {
 public:
  void log(Severity severity, char const* message) noexcept override {
    const std::lock_guard lock(mutex_);
    (severity <= Severity::kERROR ? error : other) = message;
  }
  std::string error, other;

 private:
  std::mutex mutex_;
};
Logger g_logger;  // outlives all of the API's objects: the process remembers its first logger

std::string file(const char* name) { return std::string(KILN_PLUGIN_LIBRARIES) + name + ".so"; }
std::string real(const char* name) { return fs::canonical(file(name)); }
bool is_mapped(const char* name) {
  void* handle = dlopen(file(name).c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle) dlclose(handle);
  return handle != nullptr;
}

/// A runtime with its registry.
struct Libraries : ::testing::Test {
  Libraries() : runtime(nvinfer1::createInferRuntime(g_logger)), registry(runtime->getPluginRegistry()) {
    g_logger.error.clear();
  }
  nvinfer1::IPluginRegistry::PluginLibraryHandle load(const std::string& path) {
    return registry.loadLibrary(path.c_str());
  }
  /// What the logger is told where a library cannot be loaded; empty if it can.
  std::string failure(const std::string& path) {
    g_logger.error.clear();
    return load(path) ? "" : g_logger.error;
  }
  std::string failure_of(const char* name) {
    std::string told = failure(file(name));
    EXPECT_FALSE(is_mapped(name)) << name;
    const std::string known = "IPluginRegistry::loadLibrary: library '" + real(name) + "': ";
    return told.starts_with(known) ? told.substr(known.size()) : told;
  }
  bool has(const char* name, const char* version = "1", const char* plugin_namespace = "") {
    return registry.getCreator(name, version, plugin_namespace) != nullptr;
  }
  std::unique_ptr<nvinfer1::IRuntime> runtime;
  nvinfer1::IPluginRegistry& registry;
};

TEST_F(Libraries, RegisterCreatorsOfBothKinds) {
  void* handle = load(file("both_kinds"));
  ASSERT_NE(handle, nullptr) << g_logger.error;
  EXPECT_EQ(g_logger.other, "both_kinds: asked for creators");
  EXPECT_TRUE(has("New", "1", "ours"));
  EXPECT_FALSE(has("New"));
  EXPECT_NE(registry.getPluginCreator("Old", "2", ""), nullptr);
  EXPECT_EQ(getPluginRegistry()->getCreator("Old", "2", ""), nullptr);  // it is the runtime's alone
  registry.deregisterLibrary(handle);
  EXPECT_FALSE(has("New", "1", "ours"));
  EXPECT_FALSE(is_mapped("both_kinds"));
  EXPECT_EQ(g_logger.error, "");
}

TEST_F(Libraries, WithTheOlderEntryPoint) {
  ASSERT_NE(load(file("old_entry")), nullptr) << g_logger.error;
  EXPECT_NE(registry.getPluginCreator("Old", "2", ""), nullptr);
  EXPECT_EQ(failure(file("both_kinds")), "IPluginRegistry::loadLibrary: library '" + real("both_kinds") +
                                             "': there is a creator of 'Old' version '2' in namespace '' already");
  EXPECT_FALSE(has("New", "1", "ours"));  // all creators or none
  runtime.reset();
  EXPECT_FALSE(is_mapped("old_entry"));
}

TEST_F(Libraries, AreCountedByTheirFile) {
  const fs::path link = fs::temp_directory_path() / ("kiln_plugins_" + std::to_string(getpid()) + ".so");
  fs::create_symlink(file("both_kinds"), link);
  void* first = load(file("both_kinds"));
  void* second = load(link);
  fs::remove(link);
  ASSERT_TRUE(first && second) << g_logger.error;
  EXPECT_NE(first, second);
  registry.deregisterLibrary(first);
  EXPECT_TRUE(has("Old", "2"));
  registry.deregisterLibrary(first);
  const std::string unknown =
      "IPluginRegistry::deregisterLibrary: loadLibrary of this registry gave out no such handle, or it is deregistered";
  EXPECT_EQ(g_logger.error, unknown);
  EXPECT_TRUE(has("Old", "2"));
  registry.deregisterLibrary(second);
  EXPECT_FALSE(has("Old", "2"));
  for (void* stale : {second, static_cast<void*>(&registry), static_cast<void*>(nullptr)}) {
    g_logger.error.clear();
    registry.deregisterLibrary(stale);
    EXPECT_EQ(g_logger.error, unknown);
  }
}

TEST_F(Libraries, BelongToOneRegistryEach) {
  const std::unique_ptr<nvinfer1::IBuilder> builder(nvinfer1::createInferBuilder(g_logger));
  void* of_builder = builder->getPluginRegistry().loadLibrary(file("both_kinds").c_str());
  void* of_runtime = load(file("both_kinds"));
  ASSERT_TRUE(of_builder && of_runtime) << g_logger.error;
  builder->getPluginRegistry().deregisterLibrary(of_runtime);
  EXPECT_NE(g_logger.error, "");
  builder->getPluginRegistry().deregisterLibrary(of_builder);
  EXPECT_EQ(builder->getPluginRegistry().getCreator("Old", "2", ""), nullptr);
  EXPECT_TRUE(has("Old", "2"));
}

TEST_F(Libraries, ThatCannotBeLoadedAreTold) {
  const std::string text = fs::temp_directory_path() / ("kiln_plugins_text_" + std::to_string(getpid()));
  const auto told = [&](const std::string& path, const std::string& what) {
    EXPECT_EQ(failure(path), "IPluginRegistry::loadLibrary: library '" + path + "': " + what);
  };
  EXPECT_EQ(registry.loadLibrary(nullptr), nullptr);
  EXPECT_EQ(g_logger.error, "IPluginRegistry::loadLibrary: the path is null");
  told("/no/such/file.so", "No such file or directory");
  told(fs::temp_directory_path(), "it is no regular file");
  told("libnosuchplugins.so", "libnosuchplugins.so: cannot open shared object file: No such file or directory");
  std::ofstream(text) << "plain text, and enough of it that the header of a library would have its place in it: "
                         "sixty-four bytes";
  told(text, "it is no shared library");
  fs::remove(text);
  ASSERT_EQ(::mkfifo(text.c_str(), 0600), 0);
  told(text, "it is no regular file");
  fs::remove(text);
  told(file("lacks_a_symbol"), file("lacks_a_symbol") + ": undefined symbol: creators_from_elsewhere");
}

TEST_F(Libraries, ThatAreTruncatedAreTold) {
  const fs::path cut = fs::temp_directory_path() / ("kiln_plugins_cut_" + std::to_string(getpid()) + ".so");
  const auto whole = static_cast<intmax_t>(fs::file_size(file("both_kinds")));
  for (intmax_t size : {intmax_t{0}, intmax_t{10}, intmax_t{70}, intmax_t{1000}, whole / 4}) {
    fs::copy_file(file("both_kinds"), cut, fs::copy_options::overwrite_existing);
    fs::resize_file(cut, static_cast<uintmax_t>(size));
    const std::string told = failure(cut);
    EXPECT_TRUE(told.find("no shared library") != told.npos || told.find("truncated or damaged") != told.npos)
        << size << " bytes: " << told;
  }
  fs::remove(cut);
}

TEST_F(Libraries, ThatBreakTheRulesAreTold) {
  EXPECT_EQ(failure_of("no_entry"),
            "it exports neither getCreators nor getPluginCreators; a library that registers its creators when it is "
            "loaded has to be loaded by dlopen, or by trtexec's --staticPlugins");
  EXPECT_EQ(failure_of("throws_when_asked"), "getCreators threw an exception that is no std::exception");
  EXPECT_EQ(failure_of("throws_finder"), "setLoggerFinder threw: not wanted");
  EXPECT_EQ(failure_of("null_list"), "getCreators gave null and a count of 2");
  EXPECT_EQ(failure_of("null_creator"), "getCreators: creator 1 of 2 is null");
  EXPECT_EQ(failure_of("no_creators"), "getCreators gave no creators");
  EXPECT_EQ(failure_of("same_name_twice"), "it has two creators of 'Twin' version '1' in namespace ''");
  int32_t count = -1;
  EXPECT_EQ(registry.getAllCreators(&count), nullptr);
  EXPECT_EQ(count, 0);
}

TEST_F(Libraries, WhoseInitialiserThrowsLeaveTheLoaderUsable) {
  ::setenv("KILN_TEST_NO_LICENCE", "1", 1);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(failure(file("throws_when_loaded")), "IPluginRegistry::loadLibrary: library '" +
                                                       file("throws_when_loaded") +
                                                       "': its initialiser threw: no licence");
    EXPECT_FALSE(is_mapped("throws_when_loaded"));
    auto other = std::make_shared<std::promise<bool>>();  // another thread would wait for the loader's lock for ever
    auto answer = other->get_future();
    std::thread([other] { other->set_value(dlopen(file("no_entry").c_str(), RTLD_NOW) != nullptr); }).detach();
    ASSERT_EQ(answer.wait_for(std::chrono::seconds(20)), std::future_status::ready);
    EXPECT_TRUE(answer.get());
    dlclose(dlopen(file("no_entry").c_str(), RTLD_NOW | RTLD_NOLOAD));
    dlclose(dlopen(file("no_entry").c_str(), RTLD_NOW | RTLD_NOLOAD));
  }
  ::unsetenv("KILN_TEST_NO_LICENCE");
  EXPECT_EQ(failure(file("throws_when_loaded")), "");
  EXPECT_TRUE(has("Licensed"));
}

/// What they did while they were loaded is undone, so that they can be loaded in the other way.
TEST_F(Libraries, ThatRegisterThemselvesAndCannotBeLoadedAreTakenBack) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_NE(failure(file("registers_itself")).find("it exports neither"), std::string::npos);
    EXPECT_FALSE(is_mapped("registers_itself"));
    EXPECT_EQ(getPluginRegistry()->getCreator("FromStaticLibrary", "1", ""), nullptr);
  }
  EXPECT_NE(failure(file("registers_then_throws")).find("its initialiser threw: no licence"), std::string::npos);
  EXPECT_FALSE(is_mapped("registers_then_throws"));
  EXPECT_EQ(getPluginRegistry()->getCreator("FromThrowingLibrary", "1", ""), nullptr);
}

TEST_F(Libraries, ThatRegisterThemselvesStayLoaded) {
  void* const handle = dlopen(file("registers_itself").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr);
  for (int i = 0; i < 2; ++i) {  // also where loadLibrary fails, since the program had loaded it
    nvinfer1::IPluginCreatorInterface* creator = getPluginRegistry()->getCreator("FromStaticLibrary", "1", "");
    ASSERT_NE(creator, nullptr);
    EXPECT_STREQ(creator->getInterfaceInfo().kind, "PLUGIN CREATOR_V3ONE");
    EXPECT_TRUE(has("FromStaticLibrary"));  // the runtime's parent has it
    EXPECT_NE(failure(file("registers_itself")).find("it exports neither"), std::string::npos);
  }
  EXPECT_TRUE(is_mapped("registers_itself"));
  EXPECT_TRUE(getPluginRegistry()->deregisterCreator(*getPluginRegistry()->getCreator("FromStaticLibrary", "1", "")));
  dlclose(handle);
}

TEST_F(Libraries, MayUseTheRegistryThatLoadsThem) {
  nvinfer1::IPluginRegistry& process = *getPluginRegistry();
  void* handle = process.loadLibrary(file("registers_on_its_own").c_str());
  ASSERT_NE(handle, nullptr) << g_logger.error;
  EXPECT_NE(process.getCreator("ByHand", "1", ""), nullptr);
  process.deregisterLibrary(handle);
  EXPECT_EQ(process.getCreator("ByList", "1", ""), nullptr);
  ASSERT_NE(process.getCreator("ByHand", "1", ""), nullptr);  // registered by the library, not by loadLibrary
  EXPECT_STREQ(process.getCreator("ByHand", "1", "")->getInterfaceInfo().kind, "PLUGIN CREATOR_V3ONE");
}

/// What a plugin of the library "shares_a_resource" does.
bool acquire_weights(nvinfer1::IPluginRegistry& in) {
  void* library = dlopen(file("shares_a_resource").c_str(), RTLD_NOW | RTLD_NOLOAD);
  const bool acquired = reinterpret_cast<bool (*)(nvinfer1::IPluginRegistry&)>(dlsym(library, "acquire_weights"))(in);
  dlclose(library);
  return acquired;
}

TEST_F(Libraries, WhoseResourcesAnotherRegistryHasStayMapped) {
  const std::unique_ptr<nvinfer1::IRuntime> other(nvinfer1::createInferRuntime(g_logger));
  void* handle = load(file("shares_a_resource"));
  ASSERT_NE(handle, nullptr) << g_logger.error;
  EXPECT_TRUE(acquire_weights(other->getPluginRegistry()));
  registry.deregisterLibrary(handle);
  EXPECT_FALSE(has("Sharing"));
  ASSERT_TRUE(is_mapped("shares_a_resource")) << g_logger.error;
  EXPECT_EQ(other->getPluginRegistry().releasePluginResource("weights of shares_a_resource"), 0);
  EXPECT_FALSE(is_mapped("shares_a_resource"));
}

TEST_F(Libraries, WhoseCreatorsAnotherRegistryHasStayMapped) {
  std::unique_ptr<nvinfer1::IRuntime> other(nvinfer1::createInferRuntime(g_logger));
  const auto found = [&] { return other->getPluginRegistry().getCreator("New", "1", "by hand"); };
  for (const bool deregisters : {true, false}) {
    void* handle = load(file("both_kinds"));
    ASSERT_NE(handle, nullptr) << g_logger.error;
    ASSERT_TRUE(other->getPluginRegistry().registerCreator(*registry.getCreator("New", "1", "ours"), "by hand"));
    registry.deregisterLibrary(handle);
    EXPECT_FALSE(has("New", "1", "ours"));
    ASSERT_TRUE(is_mapped("both_kinds"));
    ASSERT_NE(found(), nullptr);
    EXPECT_STREQ(found()->getInterfaceInfo().kind, "PLUGIN CREATOR_V3ONE");
    if (deregisters) {
      EXPECT_TRUE(other->getPluginRegistry().deregisterCreator(*found()));
    } else {
      other.reset();
    }
    EXPECT_FALSE(is_mapped("both_kinds"));
  }
}

TEST_F(Libraries, InUseStayRegistered) {
  void* handle = load(file("shares_a_resource"));
  ASSERT_NE(handle, nullptr) << g_logger.error;
  EXPECT_TRUE(acquire_weights(*getPluginRegistry()));
  registry.deregisterLibrary(handle);
  EXPECT_EQ(g_logger.error, "IPluginRegistry::deregisterLibrary: library '" + real("shares_a_resource") +
                                "' is in use: resource 'weights of shares_a_resource' has 1 user");
  EXPECT_TRUE(has("Sharing"));
  EXPECT_EQ(getPluginRegistry()->releasePluginResource("weights of shares_a_resource"), 0);
  registry.deregisterLibrary(handle);
  EXPECT_FALSE(has("Sharing"));
  EXPECT_FALSE(is_mapped("shares_a_resource"));
}

TEST_F(Libraries, LoadAndUnloadInEightThreads) {
  std::atomic<int> failures = 0;
  const auto work = [&] {
    for (int i = 0; i < 50; ++i) {
      void* handle = load(file("both_kinds"));
      failures += !handle || !has("New", "1", "ours");
      registry.deregisterLibrary(handle);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0) << g_logger.error;
  EXPECT_FALSE(has("Old", "2"));
  EXPECT_FALSE(is_mapped("both_kinds"));
}

}  // namespace
