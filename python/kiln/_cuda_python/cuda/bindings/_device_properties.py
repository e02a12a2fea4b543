"""The structure that cudaGetDeviceProperties fills."""
import ctypes

_FIELDS = """
char: name[256]
uuid: uuid
char: luid[8]
unsigned: luidDeviceNodeMask
size: totalGlobalMem sharedMemPerBlock
int: regsPerBlock warpSize
size: memPitch
int: maxThreadsPerBlock maxThreadsDim[3] maxGridSize[3]
size: totalConstMem
int: major minor
size: textureAlignment texturePitchAlignment
int: multiProcessorCount integrated canMapHostMemory maxTexture1D maxTexture1DMipmap maxTexture2D[2] maxTexture2DMipmap[2]
int: maxTexture2DLinear[3] maxTexture2DGather[2] maxTexture3D[3] maxTexture3DAlt[3] maxTextureCubemap maxTexture1DLayered[2]
int: maxTexture2DLayered[3] maxTextureCubemapLayered[2] maxSurface1D maxSurface2D[2] maxSurface3D[3] maxSurface1DLayered[2]
int: maxSurface2DLayered[3] maxSurfaceCubemap maxSurfaceCubemapLayered[2]
size: surfaceAlignment
int: concurrentKernels ECCEnabled pciBusID pciDeviceID pciDomainID tccDriver asyncEngineCount unifiedAddressing memoryBusWidth
int: l2CacheSize persistingL2CacheMaxSize maxThreadsPerMultiProcessor streamPrioritiesSupported globalL1CacheSupported
int: localL1CacheSupported
size: sharedMemPerMultiprocessor
int: regsPerMultiprocessor managedMemory isMultiGpuBoard multiGpuBoardGroupID hostNativeAtomicSupported pageableMemoryAccess
int: concurrentManagedAccess computePreemptionSupported canUseHostPointerForRegisteredMem cooperativeLaunch
size: sharedMemPerBlockOptin
int: pageableMemoryAccessUsesHostPageTables directManagedMemAccessFromHost maxBlocksPerMultiProcessor accessPolicyMaxWindowSize
size: reservedSharedMemPerBlock
int: hostRegisterSupported sparseCudaArraySupported hostRegisterReadOnlySupported timelineSemaphoreInteropSupported
int: memoryPoolsSupported gpuDirectRDMASupported
unsigned: gpuDirectRDMAFlushWritesOptions
int: gpuDirectRDMAWritesOrdering
unsigned: memoryPoolSupportedHandleTypes
int: deferredMappingCudaArraySupported ipcEventSupported clusterLaunch unifiedFunctionPointers deviceNumaConfig deviceNumaId
int: mpsEnabled hostNumaId
unsigned: gpuPciDeviceID gpuPciSubsystemID
int: hostNumaMultinodeIpcSupported reserved[56]
"""


class cudaUUID_t(ctypes.Structure):
    """Identity of a device."""

    _fields_ = [("_bytes", ctypes.c_ubyte * 16)]

    @property
    def bytes(self):
        """Its 16 bytes."""
        return bytes(self._bytes)


_KINDS = {"char": ctypes.c_char, "uuid": cudaUUID_t, "size": ctypes.c_size_t, "int": ctypes.c_int, "unsigned": ctypes.c_uint}


def _fields():
    for line in _FIELDS.strip().splitlines():
        kind, _, words = line.partition(": ")
        for word in words.split():
            name, _, count = word.rstrip("]").partition("[")
            yield name, _KINDS[kind] * int(count) if count else _KINDS[kind]


class cudaDeviceProp(ctypes.Structure):
    """What a device has. Extents are lists, as in cuda-python."""

    _fields_ = list(_fields())

    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        return list(value) if isinstance(value, ctypes.Array) else value
