// A few of Slack's emoji names; what is not here keeps its name between colons.

import { own } from "./table.js";

const EMOJI = {
  "+1": "👍", "-1": "👎", arrow_down: "⬇️", arrow_right: "➡️", arrow_up: "⬆️", bar_chart: "📊", bell: "🔔", bulb: "💡",
  calendar: "📅", chart_with_downwards_trend: "📉", chart_with_upwards_trend: "📈", clap: "👏", eyes: "👀", fire: "🔥",
  gear: "⚙️", grey_question: "❔", hand: "✋", heart: "❤️", heavy_check_mark: "✔️", hourglass: "⌛", hourglass_flowing_sand: "⏳",
  information_source: "ℹ️", key: "🔑", link: "🔗", lock: "🔒", mag: "🔍", memo: "📝", no_entry: "⛔", ok_hand: "👌",
  pencil2: "✏️", pray: "🙏", question: "❓", raised_hands: "🙌", rocket: "🚀", rotating_light: "🚨", scales: "⚖️", slightly_smiling_face: "🙂",
  smile: "😄", sparkles: "✨", star: "⭐", tada: "🎉", thinking_face: "🤔", thumbsdown: "👎", thumbsup: "👍", warning: "⚠️",
  wastebasket: "🗑️", wave: "👋", white_check_mark: "✅", x: "❌", zap: "⚡",
};

/** The character of an emoji name. */
export function emoji(name) {
  return own(EMOJI, name) ?? `:${name}:`;
}
