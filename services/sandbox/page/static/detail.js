// One record in full: its headers, and its value with JSON set in colours.

import { el } from "./dom.js";

const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\btrue\b|\bfalse\b|\bnull\b/g;

export async function detail(turn, key) {
  try {
    const answer = await fetch(`/turns/${encodeURIComponent(turn)}/records/${encodeURIComponent(key)}`);
    const record = await answer.json();
    return answer.ok ? shown(record) : el("p", { class: "hint" }, record.error);
  } catch {
    return el("p", { class: "hint" }, "The page's server does not answer.");
  }
}

function shown(record) {
  const made = document.createDocumentFragment();
  made.append(
    el(
      "dl",
      {},
      ...record.headers.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
    ),
    value(record),
  );
  if (record.cut && record.form !== "dropped") {
    made.append(el("p", { class: "hint" }, `Only the beginning of ${record.row.size.toLocaleString()} bytes is kept here.`));
  }
  return made;
}

function value(record) {
  switch (record.form) {
    case "json":
      return el("pre", { tabindex: 0 }, el("code", {}, ...coloured(record.value)));
    case "text":
      return el("pre", { tabindex: 0 }, el("code", {}, record.value));
    case "dropped":
      return el("p", { class: "hint" }, `The value (${record.row.size.toLocaleString()} bytes) is not kept here.`);
    default:
      return el("p", { class: "hint" }, "No value.");
  }
}

function* coloured(json) {
  let position = 0;
  for (const found of json.matchAll(TOKEN)) {
    yield json.slice(position, found.index);
    const [all, string, colon] = found;
    if (colon) {
      yield el("span", { class: "json-name" }, string);
      yield colon;
    } else {
      yield el("span", { class: string ? "json-text" : "json-other" }, all);
    }
    position = found.index + all.length;
  }
  yield json.slice(position);
}
