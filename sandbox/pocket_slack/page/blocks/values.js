// Converts between Slack's `state.values` and a control's value: text, an option's value, an id, or a list of them.

const KEYS = {
  static_select: "selected_option",
  external_select: "selected_option",
  radio_buttons: "selected_option",
  checkboxes: "selected_options",
  multi_static_select: "selected_options",
  multi_external_select: "selected_options",
  users_select: "selected_user",
  multi_users_select: "selected_users",
  channels_select: "selected_channel",
  multi_channels_select: "selected_channels",
  conversations_select: "selected_conversation",
  multi_conversations_select: "selected_conversations",
  datepicker: "selected_date",
  timepicker: "selected_time",
  datetimepicker: "selected_date_time",
  rich_text_input: "rich_text_value",
};

/** A control's first value: what was typed before, or the element's `initial_…` field. */
export function initialValue(element, state) {
  const key = KEYS[element.type] ?? "value";
  const initial = element[`initial_${key.replace("selected_", "")}`] ?? element.initial_value;
  return bare(state?.[key] ?? initial);
}

/** The plain text of a rich_text value, one line for each section or item. */
export function plainOfRichText(value) {
  if (typeof value === "string") return value;
  const text = (element) =>
    element.elements?.map(text).join(element.type === "rich_text_list" ? "\n" : "") ?? shown(element);
  return value?.elements.map(text).join("\n") ?? "";
}

function shown(element) {
  return (
    element.text ?? element.url ?? element.user_id ?? element.channel_id ?? (element.name ? `:${element.name}:` : "")
  );
}

/** All options of a select, including those in groups. */
export function allOptions(element) {
  return [...(element.options ?? []), ...(element.option_groups ?? []).flatMap((group) => group.options)];
}

function bare(value) {
  if (Array.isArray(value)) return value.map(bare);
  return value && typeof value === "object" && "value" in value ? value.value : (value ?? null);
}
