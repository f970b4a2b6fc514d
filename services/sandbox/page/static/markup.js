// The server's tree of a message's Markdown, as elements.

import { el } from "./dom.js";

const INLINE = { bold: "strong", italic: "em", code: "code" };

export function markup(blocks) {
  const made = document.createDocumentFragment();
  let list = null;
  for (const block of blocks) {
    if (block.kind === "item") {
      list ??= made.appendChild(el("ul"));
      list.append(el("li", {}, ...spans(block.spans)));
      continue;
    }
    list = null;
    made.append(lines(block));
  }
  return made;
}

function lines(block) {
  switch (block.kind) {
    case "code":
      return el("pre", { "data-language": block.language || null }, el("code", {}, block.text));
    case "quote":
      return el("blockquote", {}, ...spans(block.spans));
    case "small":
      return el("p", { class: "small" }, ...spans(block.spans));
    default:
      return el("p", {}, ...spans(block.spans));
  }
}

function spans(list) {
  return list.map((span) => {
    if (span.kind === "text") return span.text;
    if (span.kind === "mention") return el("span", { class: "mention" }, span.text);
    return el(INLINE[span.kind] ?? "span", {}, ...(span.spans ? spans(span.spans) : [span.text]));
  });
}
