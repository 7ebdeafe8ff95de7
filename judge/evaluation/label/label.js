
// ---- labels: one reply after the other

const MOST_BUTTONS = 11; // a longer scale gets a field
let shown = null, isBusy = false;

/** Gives what is in the form, if anything, and shows the next reply. */
async function ask(label) {
  if (isBusy) return;
  isBusy = true;
  const request = { person: at("person").value, ...label };
  let answer;
  try {
    const response = await fetch("label", { method: "POST", body: JSON.stringify(request) });
    if (!response.ok) throw new Error();
    answer = await response.json();
  } catch {
    answer = { wrong: "The label was not taken: judge label does not answer. Start it again, and open its new address." };
  }
  isBusy = false;
  if (answer.wrong) {
    at("found").textContent = answer.wrong;
    return;
  }
  show(answer);
}

function show(reply) {
  shown = reply.key ? reply : null;
  for (const id of ["reply", "give", "keys"]) at(id).hidden = !shown;
  at("who").hidden = true;
  const given = count(reply.given, "reply", "replies");
  at("found").textContent = shown ? `${given} labelled by you. ${reply.others ? "Somebody else has labelled this one, too: it shows how people differ." : ""}`
    : `Nothing waits for you: ${given} labelled by you. Close this page, and stop judge label with Ctrl-C.`;
  if (!shown) return;
  at("reply").replaceChildren(make("h2", {}, `Reply ${reply.given + 1}`),
    ...(reply.before.length ? [make("details", {}, make("summary", {}, `${count(reply.before.length, "message", "messages")} before the question`),
      ...reply.before.flatMap(([role, words]) => text(role ? seen(role) : "Left out", words)))] : []),
    ...text("Question", reply.question), ...(reply.reference ? text("Reference", reply.reference) : []),
    ...text("Response", reply.response));
  const [low, high] = reply.scale, isLong = high - low >= MOST_BUTTONS;
  const scores = Array.from({ length: high - low + 1 }, (_, index) => low + index);
  const fields = isLong
    ? [make("input", { type: "number", min: low, max: high, step: 1, required: true, name: "score" })]
    : scores.map((score) => make("label", {}, make("input", { type: "radio", name: "score", value: score, required: true }), String(score)));
  at("scale").textContent = `Your score, ${low} to ${high}; ${high} is best`;
  at("scores").replaceChildren(at("scale"), ...fields);
  at("reason").value = "";
  window.scrollTo(0, 0);
  at("reply").focus({ preventScroll: true });
}

function give() {
  const form = at("give");
  if (!form.reportValidity()) return;
  const score = Number(new FormData(form).get("score"));
  ask({ key: shown.key, score, reason: at("reason").value });
}

at("who").addEventListener("submit", (event) => { event.preventDefault(); ask({}); });
at("give").addEventListener("submit", (event) => { event.preventDefault(); give(); });
at("skip").addEventListener("click", () => ask({ key: shown.key, score: null, reason: "" }));
document.addEventListener("keydown", (event) => {
  if (!shown || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.matches("#reason, [type=number]")) return;
  if (event.key === "Enter" && !event.target.matches("button, summary")) give();
  else if (event.key === "s") at("skip").click();
  else if (event.key === "w") at("reason").focus();
  else {
    const chosen = document.querySelector(`#scores input[type=radio][value="${CSS.escape(event.key)}"]`);
    if (!chosen) return;
    chosen.checked = true;
    chosen.focus();
  }
  event.preventDefault();
});
at("person").focus();
