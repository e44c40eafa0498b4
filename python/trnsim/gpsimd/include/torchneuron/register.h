// NEURON_LIBRARY(name, m) { m.def("operator", &shape_function, "kernel_function"); }
#pragma once

#include <trnsim_gpsimd/registration.h>
