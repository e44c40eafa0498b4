// Colours stand in style.css, for light and dark; canvases ask for them here.

const NAMES = {
  Tensor: "tensor", Vector: "vector", Scalar: "scalar", GpSimd: "gpsimd", Sync: "sync",
  "DMA loads": "dma-load", "DMA stores": "dma-store", "DMA local": "dma-local",
};
const CAUSES = {
  meeting: "meeting", "cold array": "cold", "table load": "table", "result latency": "latency", semaphore: "semaphore",
  "DMA issue": "dma-issue", "DMA latency": "dma-latency", "DMA descriptors": "dma-descriptors",
  "DMA bandwidth": "dma-bandwidth", idle: "idle",
};

let known = new Map();

export function color(name) {
  if (!known.has(name)) {
    known.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  }
  return known.get(name);
}

export const forgetColors = () => { known = new Map(); };

export const queueVariable = (queue) => NAMES[queue] ?? "sync";
export const causeVariable = (cause, queue) => CAUSES[cause] ?? queueVariable(queue);

// A resource of the report ("Vector Engine", "semaphores"): the cause and queue that it is made of.
export function resourceVariable(launch, resource) {
  for (let c = 0; c < launch.causes.length; ++c) {
    const q = launch.resources[c].indexOf(resource);
    if (q >= 0) return causeVariable(launch.causes[c], launch.queues[q]);
  }
  return "idle";
}

// Light or dark as the system is, until the reader chooses.
export function themeButton(el, redraw) {
  const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const button = el("button", { type: "button", id: "theme", onclick() {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    changed();
  } });
  const changed = () => {
    root.dataset.theme = chosen ?? (system.matches ? "dark" : "light");
    button.textContent = root.dataset.theme === "dark" ? "Light" : "Dark";
    forgetColors();
    redraw();
  };
  system.addEventListener("change", changed);
  changed();
  return button;
}
