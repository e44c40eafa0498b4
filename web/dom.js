// Elements. Text from a report goes into text nodes and nowhere else, so that no name can become markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, to] of Object.entries(value)) node.style.setProperty(key, to);
    else if (name === "class") node.setAttribute("class", value);
    else if (name in node && typeof node[name] !== "object" && node.namespaceURI !== SVG) node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== undefined && child !== null && child !== false) node.append(child);
  }
  return node;
}

export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// A section of the page with its heading; `note` says in a few words what the reader sees.
export function section(name, title, note, ...children) {
  return el("section", { "data-view": name, "aria-label": title },
    el("div", { class: "section-head" }, el("h2", {}, title), note && el("p", { class: "note" }, note)), ...children);
}

// Calls draw now and whenever the element's width changes.
export function onResize(element, draw) {
  let width = -1;
  new ResizeObserver(() => {
    if (element.clientWidth === width) return;
    width = element.clientWidth;
    draw();
  }).observe(element);
}

// At most one call a frame, however often it is asked for.
export function eachFrame(draw) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  };
}
