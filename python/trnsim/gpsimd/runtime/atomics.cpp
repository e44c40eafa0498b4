// Atomic operations of the operator's code, which the compiler hands over with the other accesses.
// A processor has one thread, so they are plain ones.
#include <stdint.h>

extern "C" {

#define TRNSIM_FETCH(bits, T, name, expression)                       \
  T __tsan_atomic##bits##_fetch_##name(volatile T* p, T value, int) { \
    const T old = *p;                                                 \
    *p = static_cast<T>(expression);                                  \
    return old;                                                       \
  }
#define TRNSIM_ATOMICS(bits, T)                                                                 \
  T __tsan_atomic##bits##_load(const volatile T* p, int) { return *p; }                         \
  void __tsan_atomic##bits##_store(volatile T* p, T value, int) { *p = value; }                 \
  TRNSIM_FETCH(bits, T, add, old + value)                                                       \
  TRNSIM_FETCH(bits, T, sub, old - value)                                                       \
  TRNSIM_FETCH(bits, T, and, old& value)                                                        \
  TRNSIM_FETCH(bits, T, or, old | value)                                                        \
  TRNSIM_FETCH(bits, T, xor, old ^ value)                                                       \
  TRNSIM_FETCH(bits, T, nand, ~(old & value))                                                   \
  T __tsan_atomic##bits##_exchange(volatile T* p, T value, int) {                               \
    const T old = *p;                                                                           \
    *p = value;                                                                                 \
    return old;                                                                                 \
  }                                                                                             \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* expected, T value, int,   \
                                                    int) {                                      \
    if (*p == *expected) {                                                                      \
      *p = value;                                                                               \
      return 1;                                                                                 \
    }                                                                                           \
    *expected = *p;                                                                             \
    return 0;                                                                                   \
  }                                                                                             \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* p, T* expected, T value,          \
                                                  int success, int failure) {                   \
    return __tsan_atomic##bits##_compare_exchange_strong(p, expected, value, success, failure); \
  }

TRNSIM_ATOMICS(8, uint8_t)
TRNSIM_ATOMICS(16, uint16_t)
TRNSIM_ATOMICS(32, uint32_t)
TRNSIM_ATOMICS(64, uint64_t)

void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}

}  // extern "C"
