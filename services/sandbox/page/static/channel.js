// The channel: its messages as they come, change and go, and who is typing.

import { byId, el, keepingEnd } from "./dom.js";
import { markup } from "./markup.js";

const SHOWN = 200;
const TYPING_MS = 10_000;
const TOGETHER_MS = 5 * 60_000;
// What Odradek's own Stop buttons are called, whatever else a bot's buttons do.
const STOP = /^odradek:stop:/;

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

export class Channel {
  // `act` does things as the chosen person: act.press(message, customId), act.reply(message), act.me().
  constructor(act) {
    this.act = act;
    this.messages = new Map();
    this.typing = new Map();
    this.list = byId("messages");
    this.box = byId("messages-scroll");
    this.pressed = null;
    byId("stop").addEventListener("click", () => this.stop());
  }

  reset(channel) {
    this.messages = new Map(channel.messages.map((message) => [message.id, message]));
    byId("channel-title").textContent = channel.name || "…";
    this.typing.clear();
    this.showTyping();
    this.redraw();
    this.box.scrollTop = this.box.scrollHeight;
  }

  put(message) {
    const known = this.messages.has(message.id);
    if (!known && message.author.id === this.act.me()) this.box.scrollTop = this.box.scrollHeight;
    this.messages.set(message.id, message);
    this.typing.delete(message.author.id);
    this.showTyping();
    keepingEnd(this.box, () => {
      if (known) {
        const shown = this.list.querySelector(`[data-id="${CSS.escape(message.id)}"]`);
        shown?.replaceWith(this.element(message, shown.classList.contains("follows")));
      } else {
        this.append(message);
        this.trim();
      }
      this.showEmpty();
      this.showStop();
    });
  }

  remove(id) {
    if (this.messages.delete(id)) this.redraw();
  }

  redraw() {
    this.list.replaceChildren();
    this.last = null;
    for (const message of this.messages.values()) this.append(message);
    this.showEmpty();
    this.showStop();
  }

  append(message) {
    if (message.visible_to && message.visible_to !== this.act.me()) return;
    const last = this.last;
    const follows =
      last !== null &&
      last.author.id === message.author.id &&
      !message.reply &&
      !message.visible_to &&
      !last.visible_to &&
      message.at_ms - last.at_ms < TOGETHER_MS;
    this.last = message;
    this.list.append(this.element(message, follows));
  }

  trim() {
    while (this.messages.size > SHOWN) this.messages.delete(this.messages.keys().next().value);
    while (this.list.children.length > SHOWN) this.list.firstElementChild.remove();
  }

  element(message, follows) {
    const { author } = message;
    const classes = ["message", follows && "follows", message.visible_to && "private"].filter(Boolean).join(" ");
    return el(
      "li",
      { class: classes, "data-id": message.id },
      message.reply && replied(message.reply),
      avatar(author),
      el(
        "div",
        { class: "head" },
        el("span", { class: "name" }, author.name),
        author.bot ? el("span", { class: "tag" }, "bot") : null,
        el("time", { datetime: new Date(message.at_ms).toISOString() }, clock.format(message.at_ms)),
        message.edited ? el("span", { class: "edited" }, "(edited)") : null,
      ),
      el(
        "div",
        { class: "body" },
        message.thinking ? el("p", { class: "small" }, "thinking…") : markup(message.blocks),
        ...message.files.map((name) => el("p", { class: "file" }, name)),
        message.visible_to ? el("p", { class: "only" }, "Only you can see this.") : null,
        this.buttons(message),
      ),
      message.visible_to ? null : this.replyButton(message),
    );
  }

  buttons(message) {
    if (message.buttons.length === 0) return null;
    const made = message.buttons.map(({ label, custom_id }) => {
      const press = async (event) => {
        const button = event.currentTarget;
        button.disabled = true;
        if (!(await this.press(message.id, custom_id))) button.disabled = false;
      };
      return el("button", { type: "button", class: "component", onclick: press }, label);
    });
    return el("div", { class: "components" }, ...made);
  }

  async press(message, customId) {
    this.pressed = customId;
    this.showStop();
    const done = await this.act.press(message, customId);
    if (!done) this.pressed = null;
    this.showStop();
    return done;
  }

  // The newest Stop button of the channel, [message, custom id], or null. A reply has it on its first message only.
  running() {
    for (const { id, buttons } of [...this.messages.values()].reverse()) {
      const button = buttons.find(({ custom_id }) => STOP.test(custom_id));
      if (button) return [id, button.custom_id];
    }
    return null;
  }

  stop() {
    const running = this.running();
    if (running) this.press(...running);
  }

  showStop() {
    const running = this.running();
    byId("stop").disabled = running === null || running[1] === this.pressed;
  }

  replyButton(message) {
    return el(
      "button",
      {
        type: "button",
        class: "reply quiet",
        "aria-label": `Reply to ${message.author.name}`,
        onclick: () => this.act.reply(message),
      },
      "Reply",
    );
  }

  showEmpty() {
    byId("channel-empty").hidden = this.messages.size > 0;
  }

  types(person) {
    this.typing.set(person.id, { name: person.name, until: Date.now() + TYPING_MS });
    this.showTyping();
    setTimeout(() => this.showTyping(), TYPING_MS + 50);
  }

  showTyping() {
    for (const [id, { until }] of this.typing) if (until <= Date.now()) this.typing.delete(id);
    const names = [...this.typing.values()].map(({ name }) => name);
    const place = byId("typing");
    const text = names.length ? `${names.join(", ")} ${names.length > 1 ? "are" : "is"} typing` : "";
    if (place.dataset.text === text) return;
    place.dataset.text = text;
    place.replaceChildren(...(text ? [el("span", { class: "dots", "aria-hidden": "true" }, "•", "•", "•"), text] : []));
  }
}

function avatar(author) {
  if (author.bot) return el("img", { class: "avatar", src: "/static/odradek.svg", alt: "", width: 36, height: 36 });
  const hue = Number(BigInt(author.id) % 4n);
  return el("span", { class: `avatar hue-${hue}`, "aria-hidden": "true" }, [...author.name][0]?.toUpperCase() ?? "?");
}

function replied(reply) {
  return el(
    "p",
    { class: "replied" },
    el("span", { class: "unseen" }, "In reply to "),
    el("b", {}, reply.author ?? "a message that is gone"),
    " ",
    reply.excerpt,
  );
}
