// Making elements. Texts go in as texts, never as markup: all that is shown here was written by users and providers.

const SVG = "http://www.w3.org/2000/svg";

export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function byId(id) {
  return document.getElementById(id);
}

// Runs `change`, and keeps the end of the scrolled box in view if it was there before.
export function keepingEnd(box, change) {
  const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 48;
  change();
  if (atEnd) box.scrollTop = box.scrollHeight;
}
