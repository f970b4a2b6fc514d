// Who writes: the choice of a person, the composer, and what a person does. Every failure is told in words.

import { byId, el } from "./dom.js";

export class People {
  constructor() {
    this.replyTo = null;
    this.content = byId("content");
    this.onChosen = () => {};
    byId("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    this.content.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        this.send();
      }
      if (event.key === "Escape") this.reply(null);
    });
    this.content.addEventListener("input", () => this.fit());
    byId("replying").querySelector("button").addEventListener("click", () => this.reply(null));
    byId("kill").addEventListener("click", () => this.command("kill"));
  }

  me() {
    return document.querySelector("input[name=person]:checked")?.value ?? null;
  }

  reset(people, channel) {
    const before = this.me();
    const chosen = people.some(({ id }) => id === before) ? before : people[0]?.id;
    const place = byId("people");
    place.replaceChildren(
      place.querySelector("legend"),
      ...people.map(({ id, name }) =>
        el(
          "label",
          {},
          el("input", { type: "radio", name: "person", value: id, checked: id === chosen, onchange: () => this.onChosen() }),
          el("span", {}, name),
        ),
      ),
    );
    this.content.placeholder = channel ? `Message #${channel}` : "Message the channel";
  }

  reply(message) {
    this.replyTo = message?.id ?? null;
    const place = byId("replying");
    place.hidden = message === null;
    if (message === null) return;
    place.querySelector("span").textContent = `Replying to ${message.author.name}`;
    this.content.focus();
  }

  async send() {
    const content = this.content.value.trim();
    if (!content) return;
    const command = /^\/([a-z0-9_-]{1,32})$/.exec(content);
    const done = command
      ? await this.command(command[1])
      : await this.post("/messages", { user: this.me(), content, reply_to: this.replyTo });
    if (!done) return;
    this.content.value = "";
    this.fit();
    this.reply(null);
  }

  command(name) {
    return this.post("/commands", { user: this.me(), name });
  }

  press(message, customId) {
    return this.post("/buttons", { user: this.me(), message, custom_id: customId });
  }

  async post(path, body) {
    let problem = "";
    if (body.user === null) {
      problem = "Nobody can write until the local Discord answers.";
    } else {
      try {
        const answer = await fetch(path, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(body),
        });
        if (!answer.ok) problem = (await answer.json()).error ?? `The page's server answered ${answer.status}.`;
      } catch {
        problem = "The page's server does not answer.";
      }
    }
    const place = byId("problem");
    place.textContent = problem;
    place.hidden = !problem;
    return !problem;
  }

  fit() {
    this.content.rows = Math.min(6, this.content.value.split("\n").length);
  }
}
