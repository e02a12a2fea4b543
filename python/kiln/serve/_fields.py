"""The fields of the messages of the KServe v2 protocol and of Triton's model configuration.

A line is a message and its fields: a name, perhaps `|` and the group of which only one may be set, a type and a number.
`*T` is a list, `{K,V}` a map. Lines that begin with `enum` are values of an enumeration with their numbers. A test
compares the lines with those of the package tritonclient.
"""

CONFIG = """
enum DataType: TYPE_INVALID 0, TYPE_BOOL 1, TYPE_UINT8 2, TYPE_UINT16 3, TYPE_UINT32 4, TYPE_UINT64 5, TYPE_INT8 6,
    TYPE_INT16 7, TYPE_INT32 8, TYPE_INT64 9, TYPE_FP16 10, TYPE_FP32 11, TYPE_FP64 12, TYPE_STRING 13, TYPE_BF16 14
ModelRateLimiter.Resource: name string 1, global bool 2, count uint32 3
ModelRateLimiter: resources *ModelRateLimiter.Resource 1, priority uint32 2
enum ModelInstanceGroup.Kind: KIND_AUTO 0, KIND_GPU 1, KIND_CPU 2, KIND_MODEL 3
enum ModelInstanceGroup.SecondaryDevice.SecondaryDeviceKind: KIND_NVDLA 0
ModelInstanceGroup.SecondaryDevice: kind ModelInstanceGroup.SecondaryDevice.SecondaryDeviceKind 1, device_id int64 2
ModelInstanceGroup: name string 1, kind ModelInstanceGroup.Kind 4, count int32 2,
    rate_limiter ModelRateLimiter 6, gpus *int32 3, secondary_devices *ModelInstanceGroup.SecondaryDevice 8,
    profile *string 5, passive bool 7,
    host_policy string 9
ModelTensorReshape: shape *int64 1
enum ModelInput.Format: FORMAT_NONE 0, FORMAT_NHWC 1, FORMAT_NCHW 2
ModelInput: name string 1, data_type DataType 2, format ModelInput.Format 3, dims *int64 4,
    reshape ModelTensorReshape 5, is_shape_tensor bool 6, allow_ragged_batch bool 7, optional bool 8,
    is_non_linear_format_io bool 9
ModelOutput: name string 1, data_type DataType 2, dims *int64 3, reshape ModelTensorReshape 5,
    label_filename string 4, is_shape_tensor bool 6, is_non_linear_format_io bool 7
enum BatchInput.Kind: BATCH_ELEMENT_COUNT 0, BATCH_ACCUMULATED_ELEMENT_COUNT 1,
    BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO 2, BATCH_MAX_ELEMENT_COUNT_AS_SHAPE 3, BATCH_ITEM_SHAPE 4,
    BATCH_ITEM_SHAPE_FLATTEN 5
BatchInput: kind BatchInput.Kind 1, target_name *string 2, data_type DataType 3, source_input *string 4
enum BatchOutput.Kind: BATCH_SCATTER_WITH_INPUT_SHAPE 0
BatchOutput: target_name *string 1, kind BatchOutput.Kind 2, source_input *string 3
ModelVersionPolicy.Latest: num_versions uint32 1
ModelVersionPolicy.All:
ModelVersionPolicy.Specific: versions *int64 1
ModelVersionPolicy: latest|policy_choice ModelVersionPolicy.Latest 1, all|policy_choice ModelVersionPolicy.All 2,
    specific|policy_choice ModelVersionPolicy.Specific 3
enum ModelOptimizationPolicy.ModelPriority: PRIORITY_DEFAULT 0, PRIORITY_MAX 1, PRIORITY_MIN 2
ModelOptimizationPolicy.Graph: level int32 1
ModelOptimizationPolicy.Cuda.GraphSpec.Shape: dim *int64 1
ModelOptimizationPolicy.Cuda.GraphSpec.LowerBound: batch_size int32 1,
    input {string,ModelOptimizationPolicy.Cuda.GraphSpec.Shape} 2
ModelOptimizationPolicy.Cuda.GraphSpec: batch_size int32 1,
    input {string,ModelOptimizationPolicy.Cuda.GraphSpec.Shape} 2,
    graph_lower_bound ModelOptimizationPolicy.Cuda.GraphSpec.LowerBound 3
ModelOptimizationPolicy.Cuda: graphs bool 1, busy_wait_events bool 2,
    graph_spec *ModelOptimizationPolicy.Cuda.GraphSpec 3, output_copy_stream bool 4
ModelOptimizationPolicy.ExecutionAccelerators.Accelerator: name string 1, parameters {string,string} 2
ModelOptimizationPolicy.ExecutionAccelerators:
    gpu_execution_accelerator *ModelOptimizationPolicy.ExecutionAccelerators.Accelerator 1,
    cpu_execution_accelerator *ModelOptimizationPolicy.ExecutionAccelerators.Accelerator 2
ModelOptimizationPolicy.PinnedMemoryBuffer: enable bool 1
ModelOptimizationPolicy: graph ModelOptimizationPolicy.Graph 1, priority ModelOptimizationPolicy.ModelPriority 2,
    cuda ModelOptimizationPolicy.Cuda 3, execution_accelerators ModelOptimizationPolicy.ExecutionAccelerators 4,
    input_pinned_memory ModelOptimizationPolicy.PinnedMemoryBuffer 5,
    output_pinned_memory ModelOptimizationPolicy.PinnedMemoryBuffer 6, gather_kernel_buffer_threshold uint32 7,
    eager_batching bool 8
enum ModelQueuePolicy.TimeoutAction: REJECT 0, DELAY 1
ModelQueuePolicy: timeout_action ModelQueuePolicy.TimeoutAction 1, default_timeout_microseconds uint64 2,
    allow_timeout_override bool 3, max_queue_size uint32 4
ModelDynamicBatching: preferred_batch_size *int32 1, max_queue_delay_microseconds uint64 2,
    preserve_ordering bool 3, priority_levels uint64 4, default_priority_level uint64 5,
    default_queue_policy ModelQueuePolicy 6, priority_queue_policy {uint64,ModelQueuePolicy} 7
enum ModelSequenceBatching.Control.Kind: CONTROL_SEQUENCE_START 0, CONTROL_SEQUENCE_READY 1, CONTROL_SEQUENCE_END 2,
    CONTROL_SEQUENCE_CORRID 3
ModelSequenceBatching.Control: kind ModelSequenceBatching.Control.Kind 1, int32_false_true *int32 2,
    fp32_false_true *float 3, bool_false_true *bool 5, data_type DataType 4
ModelSequenceBatching.ControlInput: name string 1, control *ModelSequenceBatching.Control 2
ModelSequenceBatching.InitialState: data_type DataType 1, dims *int64 2, zero_data|state_data bool 3,
    data_file|state_data string 4, name string 5
ModelSequenceBatching.State: input_name string 1, output_name string 2, data_type DataType 3, dims *int64 4,
    initial_state *ModelSequenceBatching.InitialState 5, use_same_buffer_for_input_output bool 6,
    use_growable_memory bool 7
ModelSequenceBatching.StrategyDirect: max_queue_delay_microseconds uint64 1, minimum_slot_utilization float 2
ModelSequenceBatching.StrategyOldest: max_candidate_sequences int32 1, preferred_batch_size *int32 2,
    max_queue_delay_microseconds uint64 3, preserve_ordering bool 4
ModelSequenceBatching: direct|strategy_choice ModelSequenceBatching.StrategyDirect 3,
    oldest|strategy_choice ModelSequenceBatching.StrategyOldest 4, max_sequence_idle_microseconds uint64 1,
    control_input *ModelSequenceBatching.ControlInput 2, state *ModelSequenceBatching.State 5,
    iterative_sequence bool 6
ModelEnsembling.Step: model_name string 1, model_version int64 2, input_map {string,string} 3,
    output_map {string,string} 4, model_namespace string 5
ModelEnsembling: step *ModelEnsembling.Step 1, max_inflight_requests uint32 2
ModelParameter: string_value string 1
ModelWarmup.Input: data_type DataType 1, dims *int64 2, zero_data|input_data_type bool 3,
    random_data|input_data_type bool 4, input_data_file|input_data_type string 5
ModelWarmup: name string 1, batch_size uint32 2, inputs {string,ModelWarmup.Input} 3, count uint32 4
ModelOperations: op_library_filename *string 1
ModelTransactionPolicy: decoupled bool 1
ModelRepositoryAgents.Agent: name string 1, parameters {string,string} 2
ModelRepositoryAgents: agents *ModelRepositoryAgents.Agent 1
ModelResponseCache: enable bool 1
ModelMetrics.MetricControl.MetricIdentifier: family string 1
ModelMetrics.MetricControl.HistogramOptions: buckets *double 1
ModelMetrics.MetricControl: metric_identifier ModelMetrics.MetricControl.MetricIdentifier 1,
    histogram_options|metric_options ModelMetrics.MetricControl.HistogramOptions 2
ModelMetrics: metric_control *ModelMetrics.MetricControl 1
ModelConfig: name string 1, platform string 2, backend string 17, runtime string 25,
    version_policy ModelVersionPolicy 3, max_batch_size int32 4, input *ModelInput 5, output *ModelOutput 6,
    batch_input *BatchInput 20, batch_output *BatchOutput 21, optimization ModelOptimizationPolicy 12,
    dynamic_batching|scheduling_choice ModelDynamicBatching 11,
    sequence_batching|scheduling_choice ModelSequenceBatching 13,
    ensemble_scheduling|scheduling_choice ModelEnsembling 15, instance_group *ModelInstanceGroup 7,
    default_model_filename string 8, cc_model_filenames {string,string} 9, metric_tags {string,string} 10,
    parameters {string,ModelParameter} 14, model_warmup *ModelWarmup 16, model_operations ModelOperations 18,
    model_transaction_policy ModelTransactionPolicy 19, model_repository_agents ModelRepositoryAgents 23,
    response_cache ModelResponseCache 24, model_metrics ModelMetrics 26
"""

SERVICE = """
ServerLiveRequest:
ServerLiveResponse: live bool 1
ServerReadyRequest:
ServerReadyResponse: ready bool 1
ModelReadyRequest: name string 1, version string 2
ModelReadyResponse: ready bool 1
ServerMetadataRequest:
ServerMetadataResponse: name string 1, version string 2, extensions *string 3
ModelMetadataRequest: name string 1, version string 2
ModelMetadataResponse.TensorMetadata: name string 1, datatype string 2, shape *int64 3
ModelMetadataResponse: name string 1, versions *string 2, platform string 3,
    inputs *ModelMetadataResponse.TensorMetadata 4, outputs *ModelMetadataResponse.TensorMetadata 5
InferParameter: bool_param|parameter_choice bool 1, int64_param|parameter_choice int64 2,
    string_param|parameter_choice string 3, double_param|parameter_choice double 4,
    uint64_param|parameter_choice uint64 5
InferTensorContents: bool_contents *bool 1, int_contents *int32 2, int64_contents *int64 3, uint_contents *uint32 4,
    uint64_contents *uint64 5, fp32_contents *float 6, fp64_contents *double 7, bytes_contents *bytes 8
ModelInferRequest.InferInputTensor: name string 1, datatype string 2, shape *int64 3,
    parameters {string,InferParameter} 4, contents InferTensorContents 5
ModelInferRequest.InferRequestedOutputTensor: name string 1, parameters {string,InferParameter} 2
ModelInferRequest: model_name string 1, model_version string 2, id string 3, parameters {string,InferParameter} 4,
    inputs *ModelInferRequest.InferInputTensor 5, outputs *ModelInferRequest.InferRequestedOutputTensor 6,
    raw_input_contents *bytes 7
ModelInferResponse.InferOutputTensor: name string 1, datatype string 2, shape *int64 3,
    parameters {string,InferParameter} 4, contents InferTensorContents 5
ModelInferResponse: model_name string 1, model_version string 2, id string 3, parameters {string,InferParameter} 4,
    outputs *ModelInferResponse.InferOutputTensor 5, raw_output_contents *bytes 6
ModelStreamInferResponse: error_message string 1, infer_response ModelInferResponse 2
ModelConfigRequest: name string 1, version string 2
ModelConfigResponse: config ModelConfig 1
ModelStatisticsRequest: name string 1, version string 2
StatisticDuration: count uint64 1, ns uint64 2
InferStatistics: success StatisticDuration 1, fail StatisticDuration 2, queue StatisticDuration 3,
    compute_input StatisticDuration 4, compute_infer StatisticDuration 5, compute_output StatisticDuration 6,
    cache_hit StatisticDuration 7, cache_miss StatisticDuration 8
InferResponseStatistics: compute_infer StatisticDuration 1, compute_output StatisticDuration 2,
    success StatisticDuration 3, fail StatisticDuration 4, empty_response StatisticDuration 5,
    cancel StatisticDuration 6
InferBatchStatistics: batch_size uint64 1, compute_input StatisticDuration 2, compute_infer StatisticDuration 3,
    compute_output StatisticDuration 4
MemoryUsage: type string 1, id int64 2, byte_size uint64 3
ModelStatistics: name string 1, version string 2, last_inference uint64 3, inference_count uint64 4,
    execution_count uint64 5, inference_stats InferStatistics 6, batch_stats *InferBatchStatistics 7,
    memory_usage *MemoryUsage 8, response_stats {string,InferResponseStatistics} 9
ModelStatisticsResponse: model_stats *ModelStatistics 1
ModelRepositoryParameter: bool_param|parameter_choice bool 1, int64_param|parameter_choice int64 2,
    string_param|parameter_choice string 3, bytes_param|parameter_choice bytes 4
RepositoryIndexRequest: repository_name string 1, ready bool 2
RepositoryIndexResponse.ModelIndex: name string 1, version string 2, state string 3, reason string 4
RepositoryIndexResponse: models *RepositoryIndexResponse.ModelIndex 1
RepositoryModelLoadRequest: repository_name string 1, model_name string 2,
    parameters {string,ModelRepositoryParameter} 3
RepositoryModelLoadResponse:
RepositoryModelUnloadRequest: repository_name string 1, model_name string 2,
    parameters {string,ModelRepositoryParameter} 3
RepositoryModelUnloadResponse:
"""

METHODS = """
ServerLive ServerReady ModelReady ServerMetadata ModelMetadata ModelInfer ModelStreamInfer ModelConfig
ModelStatistics RepositoryIndex RepositoryModelLoad RepositoryModelUnload
""".split()

METHODS_NOT_SUPPORTED = """
SystemSharedMemoryStatus SystemSharedMemoryRegister SystemSharedMemoryUnregister
CudaSharedMemoryStatus CudaSharedMemoryRegister CudaSharedMemoryUnregister TraceSetting LogSettings
""".split()
