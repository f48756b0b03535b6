// Elements, made of text alone: whatever a server says becomes a text node or an attribute, never markup.

const SVG = "http://www.w3.org/2000/svg";
const OWN = new Set(["class", "text", "on", "data"]);

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (OWN.has(name) || value === undefined || value === null || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  if (properties.class) element.setAttribute("class", properties.class);
  if (properties.text !== undefined) element.textContent = String(properties.text);
  for (const [name, value] of Object.entries(properties.data ?? {})) element.dataset[name] = String(value);
  for (const [event, heard] of Object.entries(properties.on ?? {})) element.addEventListener(event, heard);
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function el(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

export function svg(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

export const find = (selector, within = document) => within.querySelector(selector);

export function show(element, visible = true) {
  element.hidden = !visible;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

let said = "";

/** Say something to those who listen instead of looking; the same words are not said twice in a row. */
export function announce(words) {
  if (words === said) return;
  said = words;
  find("#announcer").textContent = words;
}

/** Call later, once, after things have been quiet for a while. */
export function quietly(milliseconds, call) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...given), milliseconds);
  };
}

export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Draw now, and again whenever the place for it changes its width. */
export function drawn(element, draw) {
  element.redraw?.disconnect();
  let before = -1;
  element.redraw = new ResizeObserver(() => {
    const width = Math.floor(element.clientWidth);
    if (width > 0 && width !== before) {
      before = width;
      fill(element, draw(width));
    }
  });
  element.redraw.observe(element);
}
