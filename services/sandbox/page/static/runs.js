// Runs: the slices and batches of a stream that stand next to each other, folded to one line with their count.

import { el } from "./dom.js";

const STREAM = ["RawSlice", "ChunkBatch"];

export class Runs {
  // `onChange` draws the records again.
  constructor(onChange) {
    this.onChange = onChange;
    this.unfolded = new Set();
  }

  reset() {
    this.unfolded.clear();
  }

  unfold(rows) {
    for (const row of rows) this.unfolded.add(row.key);
    this.onChange();
  }

  // Folds what is to be folded, or nothing. `items` are the list's elements, one for each row.
  draw(rows, items, folding) {
    for (let start = 0, end; start < rows.length; start = end) {
      end = start + 1;
      if (STREAM.includes(rows[start].type)) while (STREAM.includes(rows[end]?.type)) end += 1;
      const run = rows.slice(start, end);
      const folded = folding && run.length > 1 && !run.some(({ key }) => this.unfolded.has(key));
      for (let index = start; index < end; index += 1) {
        items[index].hidden = folded && index > start;
        this.mark(items[index], folded && index === start ? run : null);
      }
    }
  }

  // The first row of a folded run stands for all of it.
  mark(item, run) {
    const text = run === null ? "" : counted(run);
    if ((item.dataset.run ?? "") === text) return;
    item.dataset.run = text;
    item.querySelector(".run")?.remove();
    if (run === null) return;
    const age = item.querySelector(".age").textContent;
    item.prepend(
      el(
        "button",
        { type: "button", class: "line run", "aria-expanded": "false", onclick: () => this.unfold(run) },
        el("span", { class: "age" }, age),
        el("span", { class: "fold" }, `${text}, folded`),
      ),
    );
  }
}

function counted(run) {
  return STREAM.map((type) => [run.filter((row) => row.type === type).length, type])
    .filter(([count]) => count > 0)
    .map(([count, type]) => `${count} × ${type}`)
    .join(", ");
}
