// The documented part of the torch C++ API that a GpSimd processor has: tensors, factories,
// operations, accessors. The rest of PyTorch is not there, as on the device.
#pragma once

#include <trnsim_gpsimd/accessors.h>
#include <trnsim_gpsimd/functions.h>
#include <trnsim_gpsimd/registration.h>
#include <trnsim_gpsimd/tensor.h>
