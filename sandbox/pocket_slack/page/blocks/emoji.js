// Slack's names of common emoji, as in https://github.com/iamcal/emoji-data; others keep their name and colons.

const TABLE = `\
👍 +1 thumbsup|👎 -1 thumbsdown|👌 ok_hand|👋 wave|🙌 raised_hands|👏 clap|🙏 pray|💪 muscle|☝️ point_up|👇 point_down|
👈 point_left|👉 point_right|✌️ v|🤞 crossed_fingers|✊ fist|👊 facepunch punch|✋ hand raised_hand|🤝 handshake|
👀 eyes|🧠 brain|🤘 the_horns sign_of_the_horns|🤙 call_me_hand|✍️ writing_hand|🤷‍♂️ man-shrugging|
🤷‍♀️ woman-shrugging|🤷 shrug|🤦‍♂️ man-facepalming|🤦 face_palm|🙋 raising_hand|🙇‍♂️ man-bowing|🙇 bow|👂 ear|
❤️ heart|💔 broken_heart|🧡 orange_heart|💛 yellow_heart|💚 green_heart|💙 blue_heart|💜 purple_heart|🖤 black_heart|
🤍 white_heart|💕 two_hearts|💖 sparkling_heart|😄 smile|😃 smiley|😁 grin|😀 grinning|😆 laughing satisfied|
😅 sweat_smile|😂 joy|🤣 rolling_on_the_floor_laughing|😊 blush|😇 innocent|🙂 slightly_smiling_face|
🙃 upside_down_face|😉 wink|😌 relieved|😍 heart_eyes|😘 kissing_heart|😋 yum|😛 stuck_out_tongue|😎 sunglasses|
🤩 star-struck|🥳 partying_face|🤓 nerd_face|🤔 thinking_face|🤨 face_with_raised_eyebrow|😐 neutral_face|
😑 expressionless|😶 no_mouth|😏 smirk|😒 unamused|🙄 face_with_rolling_eyes|😬 grimacing|🤥 lying_face|🤗 hugging_face|
🤭 face_with_hand_over_mouth|🤫 shushing_face|🤐 zipper_mouth_face|😴 sleeping|😪 sleepy|😷 mask|🤯 exploding_head|
🧐 face_with_monocle|😕 confused|😟 worried|🙁 slightly_frowning_face|☹️ white_frowning_face|😮 open_mouth|😯 hushed|
😲 astonished|😳 flushed|🥺 pleading_face|😨 fearful|😰 cold_sweat|😥 disappointed_relieved|😢 cry|😭 sob|😱 scream|
😖 confounded|😞 disappointed|😓 sweat|😩 weary|😫 tired_face|🥱 yawning_face|😤 triumph|😡 rage|😠 angry|🫠 melting_face|
🫡 saluting_face|🥹 face_holding_back_tears|🤖 robot_face|👻 ghost|💀 skull|👽 alien|🤡 clown_face|💩 hankey poop shit|
🙈 see_no_evil|🙉 hear_no_evil|🙊 speak_no_evil|🐱 cat|🐶 dog|🦄 unicorn_face|🐛 bug|🐝 bee honeybee|🐌 snail|🐢 turtle|
🐙 octopus|🦊 fox_face|🐼 panda_face|🐵 monkey_face|🐯 tiger|🦁 lion_face|🐳 whale|🐬 dolphin flipper|🦀 crab|
🦋 butterfly|🦜 parrot|🐧 penguin|🦉 owl|🦥 sloth|🐍 snake|🐸 frog|🐰 rabbit|🐻 bear|🐮 cow|🐷 pig|🎉 tada|🎊 confetti_ball|
🎈 balloon|🎁 gift|🏆 trophy|🎖️ medal|🥇 first_place_medal|🥈 second_place_medal|🥉 third_place_medal|🎯 dart|
🏅 sports_medal|⚽ soccer|🏀 basketball|🎮 video_game|🎲 game_die|🧩 jigsaw|🔮 crystal_ball|🎨 art|⭐ star|🌟 star2|
✨ sparkles|💫 dizzy|💥 boom collision|🔥 fire|⚡ zap|❄️ snowflake|☀️ sunny|☁️ cloud|🌧️ rain_cloud|🌈 rainbow|
☂️ umbrella|🌊 ocean|🌞 sun_with_face|🌔 moon waxing_gibbous_moon|🌕 full_moon|🌍 earth_africa|🌱 seedling|
🍀 four_leaf_clover|🌳 deciduous_tree|🌿 herb|🌹 rose|🌻 sunflower|🌸 cherry_blossom|🍁 maple_leaf|🍄 mushroom|🌵 cactus|
☕ coffee|🍵 tea|🍺 beer|🍻 beers|🍷 wine_glass|🍾 champagne|🥂 clinking_glasses|🍰 cake|🎂 birthday|🍪 cookie|🍕 pizza|
🍔 hamburger|🍩 doughnut|🍿 popcorn|🍎 apple|🍌 banana|🥑 avocado|🌮 taco|🍣 sushi|🍞 bread|🧀 cheese_wedge|🍨 ice_cream|
🍋 lemon|🌶️ hot_pepper|🚀 rocket|✈️ airplane|🚗 car red_car|🚌 bus|🚲 bike|🚋 train|🚢 ship|🏠 house|🏢 office|
🏥 hospital|🏫 school|🚧 construction|🏗️ building_construction|🚥 traffic_light|🚦 vertical_traffic_light|
🏁 checkered_flag|🚩 triangular_flag_on_post|🏳️ waving_white_flag|🗺️ world_map|🧭 compass|💻 computer|
🖥️ desktop_computer|⌨️ keyboard|📱 iphone|📞 telephone_receiver|☎️ phone telephone|✉️ email envelope|
📨 incoming_envelope|📥 inbox_tray|📤 outbox_tray|📦 package|📫 mailbox|🖨️ printer|💾 floppy_disk|💿 cd|🔋 battery|
🔌 electric_plug|📷 camera|📹 video_camera|🎥 movie_camera|📺 tv|💡 bulb|🔦 flashlight|🕯️ candle|📝 memo pencil|
✏️ pencil2|📖 book open_book|📚 books|📓 notebook|🔖 bookmark|📰 newspaper|📄 page_facing_up|📋 clipboard|
📁 file_folder|📂 open_file_folder|🗂️ card_index_dividers|📆 calendar|📅 date|🗓️ spiral_calendar_pad|
📈 chart_with_upwards_trend|📉 chart_with_downwards_trend|📊 bar_chart|📌 pushpin|📍 round_pushpin|📎 paperclip|
✂️ scissors|📏 straight_ruler|📐 triangular_ruler|🏷️ label|🔍 mag|🔎 mag_right|🔒 lock|🔓 unlock|
🔐 closed_lock_with_key|🔑 key|🔨 hammer|🛠️ hammer_and_wrench|🔧 wrench|⚙️ gear|🔩 nut_and_bolt|🧰 toolbox|🧲 magnet|
🔗 link|⛓️ chains|🛡️ shield|🔬 microscope|🔭 telescope|🧪 test_tube|🧬 dna|💊 pill|💉 syringe|🩹 adhesive_bandage|
🌡️ thermometer|⚖️ scales|🗑️ wastebasket|🧹 broom|🧽 sponge|🛒 shopping_trolley|💰 moneybag|💵 dollar|💶 euro|
💳 credit_card|💎 gem|🧾 receipt|🔔 bell|🔕 no_bell|📢 loudspeaker|📣 mega|💬 speech_balloon|💭 thought_balloon|
🗨️ left_speech_bubble|🔇 mute|🔉 sound|🎵 musical_note|🎤 microphone|🎧 headphones|⌛ hourglass|
⏳ hourglass_flowing_sand|⏱️ stopwatch|⏰ alarm_clock|⌚ watch|⏲️ timer_clock|🕒 clock3|✅ white_check_mark|
✔️ heavy_check_mark|☑️ ballot_box_with_check|❌ x|❎ negative_squared_cross_mark|➕ heavy_plus_sign|
➖ heavy_minus_sign|✖️ heavy_multiplication_x|⚠️ warning|⛔ no_entry|🚫 no_entry_sign|🛑 octagonal_sign|
🚨 rotating_light|🆘 sos|❗ exclamation heavy_exclamation_mark|❓ question|❔ grey_question|❕ grey_exclamation|
‼️ bangbang|⁉️ interrobang|💯 100|ℹ️ information_source|🆗 ok|🆕 new|🆓 free|🆙 up|🆒 cool|♻️ recycle|🔴 red_circle|
🟠 large_orange_circle|🟡 large_yellow_circle|🟢 large_green_circle|🔵 large_blue_circle|🟣 large_purple_circle|
⚪ white_circle|⚫ black_circle|🔶 large_orange_diamond|🔷 large_blue_diamond|🔺 small_red_triangle|
🔻 small_red_triangle_down|⬆️ arrow_up|⬇️ arrow_down|⬅️ arrow_left|➡️ arrow_right|↗️ arrow_upper_right|
↘️ arrow_lower_right|🔄 arrows_counterclockwise|↪️ arrow_right_hook|↩️ leftwards_arrow_with_hook|🔙 back|🔚 end|
🔜 soon|🔝 top|⏩ fast_forward|⏪ rewind|▶️ arrow_forward|⏸️ double_vertical_bar|⏹️ black_square_for_stop|0️⃣ zero|
1️⃣ one|2️⃣ two|3️⃣ three|4️⃣ four|5️⃣ five|6️⃣ six|7️⃣ seven|8️⃣ eight|9️⃣ nine|🔟 keycap_ten|#️⃣ hash|
👤 bust_in_silhouette|👥 busts_in_silhouette|👶 baby|🧑‍💻 technologist|🥷 ninja|🦸 superhero|🧙 mage|🙆 ok_woman|
🙅 no_good|🏃‍♂️ man-running|🏃 runner running|💃 dancer|🏋️ weight_lifter|👣 footprints|👑 crown|🎩 tophat|
🎓 mortar_board|👔 necktie|👓 eyeglasses|💄 lipstick|💣 bomb|🍽️ knife_fork_plate|🚪 door|🛏️ bed|
🛌 sleeping_accommodation|💤 zzz|🛀 bath|🕳️ hole|⚓ anchor|🎫 ticket`;

const EMOJI = TABLE.split(/[|\n]+/).map((entry) => {
  const [character, ...names] = entry.split(" ");
  return { character, names };
});
const CHARACTERS = new Map(EMOJI.flatMap(({ character, names }) => names.map((name) => [name, character])));

/** The character of an emoji name. */
export function emoji(name) {
  return CHARACTERS.get(name) ?? `:${name}:`;
}

/** The emoji that have `text` in a name, the closest match first. */
export function findEmoji(text) {
  const distance = ({ names }) =>
    Math.min(...names.filter((name) => name.includes(text)).map((name) => 100 * name.indexOf(text) + name.length));
  return EMOJI.map((one) => ({ ...one, distance: text ? distance(one) : 0 }))
    .filter((one) => one.distance < Infinity)
    .sort((one, other) => one.distance - other.distance);
}
