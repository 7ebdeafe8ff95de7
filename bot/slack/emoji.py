"""What Slack calls its emoji: one name for each, whatever alias or skin tone somebody has chosen."""

import re

UP, DOWN = "+1", "-1"
"""Thumbs up and down."""
THUMBS = frozenset({UP, DOWN})

_TONE = re.compile(r"::skin-tone-[2-6]$")
# A line for each emoji with several names, Slack's own first: events have been seen with either (lins05/slackbot#49).
# Source: https://github.com/iamcal/emoji-data, 16.0.0
_SAME = """
+1 thumbsup
-1 thumbsdown
barely_sunny sun_behind_cloud
bee honeybee
boat sailboat
book open_book
boom collision
car red_car
cn flag-cn
crossed_fingers hand_with_index_and_middle_fingers_crossed
de flag-de
dolphin flipper
email envelope
es flag-es
exclamation heavy_exclamation_mark
exploding_head shocked_face_with_exploding_head
face_vomiting face_with_open_mouth_vomiting
face_with_hand_over_mouth smiling_face_with_smiling_eyes_and_hand_covering_mouth
face_with_raised_eyebrow face_with_one_eyebrow_raised
face_with_symbols_on_mouth serious_face_with_symbols_covering_mouth
facepunch punch
feet paw_prints
fr flag-fr
fried_egg cooking
gb uk flag-gb
hand raised_hand
hankey poop shit
hocho knife
it flag-it
izakaya_lantern lantern
jp flag-jp
kr flag-kr
ladybug lady_beetle
laughing satisfied
lightning lightning_cloud
man_and_woman_holding_hands woman_and_man_holding_hands couple
mans_shoe shoe
medical_symbol staff_of_aesculapius
memo pencil
men-with-bunny-ears-partying man-with-bunny-ears-partying
middle_finger reversed_hand_with_middle_finger_extended
moon waxing_gibbous_moon
mostly_sunny sun_small_cloud
mrs_claus mother_christmas
partly_sunny_rain sun_behind_rain_cloud
phone telephone
ru flag-ru
runner running
shirt tshirt
shushing_face face_with_finger_covering_closed_lips
star-struck grinning_face_with_star_eyes
the_horns sign_of_the_horns
tornado tornado_cloud
two_men_holding_hands men_holding_hands
two_women_holding_hands women_holding_hands
us flag-us
women-with-bunny-ears-partying woman-with-bunny-ears-partying
zany_face grinning_face_with_one_large_and_one_small_eye
"""
_FIRST = {name: line.split()[0] for line in _SAME.split("\n") for name in line.split()}


def emoji_of(reaction: str) -> str:
    """The emoji's first name, without a skin tone; a workspace's own emoji have theirs, and so do its aliases."""
    name = _TONE.sub("", reaction)
    return _FIRST.get(name, name)
