// Sends a person's actions to the server. Their effects come back through the stream.

import { NO_ANSWER, store, thread, topLevel } from "./store.js";
import { current } from "./place.js";

/** The server's refusal, in a sentence. */
export class Refusal extends Error {}

/** Does something as the acting person; throws a Refusal. @returns {Promise<any>} */
export async function act(verb, body = {}) {
  const answer = await send(`people/${encodeURIComponent(current().as)}/${verb}`, body);
  // Slack itself tells people about commands and submissions that failed; the page does it for everything else.
  if (answer.failure && verb !== "command" && verb !== "submit") tell(`The app did not answer (${answer.failure}).`);
  return answer;
}

/** Clears the notice, then does something; if that fails, shows the reason as a notice and returns null. */
export async function attempt(doing) {
  try {
    tell(null);
    return await doing();
  } catch (error) {
    tell(error instanceof Refusal ? error.message : NO_ANSWER);
    return null;
  }
}

/** Shows one sentence to the person, in front of everything else. */
export function tell(text) {
  store.dispatch({ type: "notice", data: text });
}

/** Runs `proceed`; if the app has set `confirm`, a confirmation object of Block Kit, asks the person before. */
export function confirmed(confirm, proceed) {
  if (confirm) store.dispatch({ type: "question", data: { confirm, proceed } });
  else proceed();
}

/** As in Slack, `+:mag:` adds that emoji to the last message. */
const REACTION = /^\+:([^\s:]+(?:::skin-tone-[2-6])?):$/;

/** Sends what was typed: a slash command, an invitation, a reaction, or a message. */
export async function say(channel, text, threadTs) {
  const reaction = REACTION.exec(text);
  if (reaction) return reactToLast(channel, threadTs, reaction[1]);
  const [word] = text.split(/\s/, 1);
  const rest = text.slice(word.length).trim();
  if (!word.startsWith("/"))
    return act("post", { channel: channel.id, text, ...(threadTs && { thread_ts: threadTs }) });
  if (threadTs) throw new Refusal(`${word} is not supported in threads, as in Slack. Type it in the channel.`);
  if (word === "/invite") return invite(channel, rest);
  if (word === "/leave") return act("leave", { channel: channel.id });
  return act("command", { channel: channel.id, command: word, text: rest });
}

async function reactToLast(channel, threadTs, name) {
  const messages = threadTs ? thread(channel, threadTs) : topLevel(channel);
  const last = messages.findLast((message) => !message.is_ephemeral);
  if (!last) throw new Refusal("There is no message to react to.");
  return act("react", { channel: channel.id, ts: last.ts, name });
}

async function invite(channel, name) {
  if (!name) throw new Refusal("Say whom: /invite @name");
  await act("invite", { channel: channel.id, user: name });
  tell(`@${name.replace(/^@/, "")} is in #${channel.name} now.`);
}

/** Sends a control request (control.py): a person's action, a fault, a command for sockets or envelopes. */
export async function send(path, body, method = "POST") {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(`/sandbox/${path}`, { method, headers, body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Refusal(answer.error);
  return answer;
}
