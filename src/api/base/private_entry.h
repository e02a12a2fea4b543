/// Functions that libnvinfer gives to its sister libraries (the parser's, the standard plugins' and the CUDA runtime's)
/// and to nobody else:
/// one exported function under the version node KILN_PRIVATE that fills a table of functions. Plain C types, no other
/// header of ours.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {

/// The result of a call, which never throws. The text of the thread's last failure is `last_error_text()`.
enum KilnStatus : int32_t {
  kKilnOk = 0,
  kKilnNotReady = 1,   ///< queries: work is still queued or running
  kKilnBadHandle = 2,  ///< no stream, event or graph of this library has that handle
  kKilnBadValue = 3,   ///< another argument breaks a rule
  kKilnNoMemory = 4,
  kKilnWorkFailed = 5,    ///< queued work failed since the last synchronisation of its stream
  kKilnNotPermitted = 6,  ///< not while a stream is being captured, or not after it was invalidated
  kKilnNotCapturing = 7,  ///< end_capture of a stream that is not being captured
  kKilnUnsupported = 8,   ///< valid, but not in Kiln yet
  kKilnInternal = 9
};

enum KilnCaptureState : int32_t { kKilnCaptureNone = 0, kKilnCaptureActive = 1, kKilnCaptureInvalidated = 2 };

/// Handles are what programs hold as cudaStream_t, cudaEvent_t and cudaGraph_t. A stream's handle may also be one of
/// the three below. A handle that was never given out, or was destroyed, gives kKilnBadHandle.
enum : uintptr_t {
  kKilnDefaultStream = 0,    ///< the legacy default stream, as null
  kKilnLegacyStream = 1,     ///< cudaStreamLegacy
  kKilnPerThreadStream = 2,  ///< cudaStreamPerThread
};

/// Flags have CUDA's values: streams 1 non-blocking (does not wait for the legacy stream); events 1 blocking sync,
/// 2 no timing.
struct KilnStreamEntry {
  KilnStatus (*create)(uint32_t flags, int32_t priority, void** stream);
  KilnStatus (*destroy)(void* stream);  ///< returns at once; queued work is still done
  KilnStatus (*synchronize)(void* stream);
  KilnStatus (*query)(void* stream);
  /// Calls `work(argument)` behind all earlier work; it must not throw, nor wait for a stream.
  KilnStatus (*launch_host)(void* stream, void (*work)(void*), void* argument);
  KilnStatus (*wait_event)(void* stream, void* event);
  KilnStatus (*flags)(void* stream, uint32_t* flags);
  KilnStatus (*priority)(void* stream, int32_t* priority);
  KilnStatus (*synchronize_all)();  ///< every stream; the first failure

  /// Queues `work(argument, failed)`, where `failed` is not 0 if earlier work of the stream failed, so that nothing
  /// should be done; then `release(argument)`, once: after the run, or with the last graph that holds the work. Does
  /// neither if it does not return kKilnOk.
  KilnStatus (*launch_kept)(void* stream, void (*work)(void*, int32_t failed), void* argument, void (*release)(void*));

  KilnStatus (*begin_capture)(void* stream);
  KilnStatus (*end_capture)(void* stream, void** graph);
  KilnStatus (*capture_state)(void* stream, KilnCaptureState* state);
};

struct KilnEventEntry {
  KilnStatus (*create)(uint32_t flags, void** event);
  KilnStatus (*destroy)(void* event);
  KilnStatus (*record)(void* event, void* stream);
  KilnStatus (*synchronize)(void* event);
  KilnStatus (*query)(void* event);
  KilnStatus (*elapsed_ms)(void* start, void* end, float* ms);
};

/// A captured sequence of work; replaying it calls the same functions with the same arguments.
struct KilnGraphEntry {
  KilnStatus (*destroy)(void* graph);
  KilnStatus (*copy)(void* graph, void** copy);
  KilnStatus (*num_nodes)(void* graph, size_t* count);
  KilnStatus (*launch)(void* graph, void* stream);
  KilnStatus (*create)(void** graph);  ///< an empty one
};

/// The device that streams belong to.
struct KilnDeviceEntry {
  KilnStatus (*allocate)(size_t size_bytes, void** memory);  ///< aligned to 256
  KilnStatus (*release)(void* memory);                       ///< null is fine
  KilnStatus (*total_memory)(size_t* size_bytes);
  KilnStatus (*identity)(const char** text);  ///< lives as long as the library
  KilnStatus (*num_threads)(int32_t* count);  ///< of its team
};

/// The driver that engines run with, which is loaded once a process.
struct KilnGpuEntry {
  /// Null where engines run on the CPU, else a kiln::cuda::Driver (backend/cuda/device/driver.h) of `size_bytes`, which
  /// lives as long as the library. Only for a library of the same build.
  KilnStatus (*driver)(const void** driver, size_t* size_bytes);
};

/// createNvOnnxParser_INTERNAL and its like; a null function is one that this library does not have.
struct KilnParserEntry {
  void* (*create_parser)(void* network, void* logger, int32_t version);
  void* (*create_parser_refitter)(void* refitter, void* logger, int32_t version);
};

enum KilnExpansion : int32_t {
  kKilnNotOurs = 0,  ///< the plugin is none of the library's
  kKilnExpanded = 1,
  kKilnExpansionFailed = 2,
  kKilnLater = 3  ///< it is asked again when ranges are known
};

/// How the standard plugins' library says by layers what its plugins compute. Safe from several threads.
struct KilnExpander {
  /// Adds such layers to an INetworkDefinition behind `inputs` (ITensor*), and writes their results to `outputs`.
  /// `plugin` is an IPluginV2* or an IPluginV3*. `scales` says what a step of an i8 is worth, of inputs and then of
  /// outputs; null before ranges are known, when plugins that have bytes by ranges wait (kKilnLater). What `*kept` gets
  /// owns the layers' weights; null for kKilnNotOurs and kKilnLater.
  KilnExpansion (*expand)(const void* plugin, void* network, const float* scales, void* const* inputs,
                          int32_t num_inputs, void** outputs, int32_t num_outputs, void** kept);
  const char* (*words)(const void* kept);  ///< why an expansion failed; live as long as `kept`
  void (*release)(void* kept);             ///< null is fine
  /// Not 0: the plugin is one of the library's, and its input `count`, behind `count` inputs of types `before`
  /// (nvinfer1::DataType), may be an INT32 and not an INT64. ONNX's parser casts what a model has.
  int32_t (*needs_int32)(const void* plugin, const int32_t* before, int32_t count);
};

/// kiln::ops::RoiAlign's attributes.
struct KilnRoiAlign {
  int32_t takes_maximum, height, width, sampling_ratio, half_pixel;
  double spatial_scale;
};

/// kiln::ScatterReduction.
enum KilnReduction : int32_t { kKilnReplace = 0, kKilnSum = 1, kKilnProduct = 2, kKilnMaximum = 3, kKilnMinimum = 4 };

/// kiln::EnqueueKind.
enum KilnEnqueueKind : int32_t { kKilnRun = 0, kKilnRecording = 1, kKilnCapture = 2 };

struct KilnPluginEntry {
  /// `expander`, which lives as long as the process, is asked about the plugins of every network; null: none is.
  KilnStatus (*set_expander)(const KilnExpander* expander);
  /// Layers that INetworkDefinition has no calls for: their output, an ITensor*, or null after the network's logger was
  /// told why. Arguments are an INetworkDefinition* and ITensor*s of it.
  /// Elements of `updates` are combined with those of `data` that they meet.
  void* (*add_scatter_elements)(void* network, void* data, void* indices, void* updates, int32_t axis,
                                KilnReduction reduction);
  void* (*add_roi_align)(void* network, void* x, void* rois, void* batch_indices, const KilnRoiAlign* how);
};

/// Grows at the end only; `version` changes with anything else. A null function is one that this library does not have.
struct KilnPrivateEntry {
  uint32_t size;     ///< in: sizeof as the caller knows it; out: bytes that were filled in
  uint32_t version;  ///< in: kKilnEntryVersion as the caller knows it; out: the library's
  const char* (*last_error_text)();
  KilnStreamEntry stream;
  KilnEventEntry event;
  KilnGraphEntry graph;
  KilnDeviceEntry device;
  KilnParserEntry parser;
  KilnGpuEntry gpu;
  KilnPluginEntry plugin;
  void (*tell_refused_launch)();  ///< this thread launched a CUDA kernel where there is no GPU, and got an error
  /// Not 0: this thread builds and loads engines for the CPU from now on, in a process whose engines run on a GPU, too.
  /// 0: where KILN_DEVICE says. Streams of the CPU's engines are `stream`'s. Returns what held before.
  int32_t (*use_host)(int32_t on);
  KilnEnqueueKind (*enqueue_kind)();  ///< of the plugin's enqueue that this thread calls
  /// Why a call of a plugin fails that this thread is in: "Split version 1", "getOutputShapes: there are no inputs".
  /// Not 0: the error of who calls it has these words. 0: nobody has them; they belong to the log.
  int32_t (*tell_failure)(const char* plugin, const char* words);
};
enum : uint32_t { kKilnEntryVersion = 3 };

/// Fills `*entry`; kKilnUnsupported, and only `version` filled, if the versions differ. A table shorter than the
/// library's is filled as far as it goes, a longer one has zeros behind.
__attribute__((visibility("default"))) KilnStatus kiln_private_entry(KilnPrivateEntry* entry);

}  // extern "C"
