// Kiln's libraries also run beside the libstdc++ of GCC 11, so that a wheel of them fits manylinux_2_34. What GCC 12
// compiles needs one symbol that is younger: std::condition_variable::wait has a second version since it became
// noexcept. The linker sends the calls here (--wrap in KilnLibrary.cmake), and they go to the first version, which both
// have.
#include <condition_variable>
#include <mutex>

#if defined(__GLIBCXX__) && defined(__linux__)
extern "C" {
void kiln_condition_variable_wait(std::condition_variable*, std::unique_lock<std::mutex>*);
__asm__(
    ".symver kiln_condition_variable_wait,"
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");

// NOLINTNEXTLINE: the name is the linker's
void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(std::condition_variable* variable,
                                                                      std::unique_lock<std::mutex>* lock) {
  kiln_condition_variable_wait(variable, lock);
}
}
#endif
