// Colours stand in style.css, for light and dark; canvases ask for them here.

const NAMES = {
  Tensor: "tensor", Vector: "vector", Scalar: "scalar", GpSimd: "gpsimd", Sync: "sync",
  "DMA loads": "dma-load", "DMA stores": "dma-store", "DMA local": "dma-local",
};
const LOSSES = {
  "Tensor Engine": "tensor", "Vector Engine": "vector", "Scalar Engine": "scalar", "GpSimd Engine": "gpsimd",
  "Sync Engine": "sync", "result latency": "latency", semaphores: "semaphore", "DMA latency": "dma-latency",
  "DMA issue": "dma-issue", "small DMA transfers": "dma-small", "DMA bandwidth": "dma-bandwidth",
  "HBM bandwidth": "hbm", "PSUM evictions": "evictions", "table loads": "table", "clock ramp": "cold",
  "port conflicts": "port", barriers: "meeting", idle: "idle", launch: "idle",
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
export const lossVariable = (loss) => LOSSES[loss] ?? "idle";

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
