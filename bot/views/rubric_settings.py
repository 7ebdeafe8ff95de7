"""What `/judge rubric` says: which rubrics there are, which one is used, and what becomes of a change."""

from collections.abc import Sequence

from bot.domain.rubric import DEFAULT, ChannelJudge, SavedRubric
from bot.slack.access import NoAccess, NoAccessReason
from bot.slack.mrkdwn import clip, escape
from bot.store.rubrics import ChannelReplay
from judge.rubric import purpose_of

_NAME, _MODELS = 80, 300
_HELP = """\
• `/judge rubric use NAME` has replies of this channel scored by it; `/judge rubric use default` goes back
• `/judge rubric edit NAME` opens a window with its text, to make one of your own; without a name, with the usual one
• `/judge rubric delete NAME` deletes one that was made here, with all of its versions
• `/judge rubric` says what there is"""
_NO_ACCESS = {
    NoAccessReason.DIRECT_MESSAGES: "Rubrics are chosen and made in a channel; type that there.",
    NoAccessReason.APP_IS_NOT_IN: "I am not in this channel. Type `/invite @Slack Judge` first.",
    NoAccessReason.PERSON_IS_NOT_IN: "Only people in this channel can see or change its rubrics.",
    NoAccessReason.GUEST: "Guests cannot change a channel's rubrics; ask a member of this workspace.",
    NoAccessReason.NOT_AN_ADMIN: "Only admins of this workspace can change rubrics here (setting DIGEST_BY).",
}
FOREIGN_RUBRIC = "This channel's rubrics are for the people of the workspace that the app belongs to."
NO_MODELS = (
    "No model can be chosen here: whoever runs the app lists those that can in the setting JUDGE_MODELS. Without a "
    "model, `/judge rubric use NAME` works."
)
TOO_LONG_TO_EDIT = "That rubric is longer than a window of Slack's takes, so it cannot be edited here."
_LINE_BREAKS = "From now on figures begin anew: those of two judges are never joined in one line."


def state(
    chosen: ChannelJudge,
    default: str,
    shipped: Sequence[str],
    own: Sequence[SavedRubric],
    models: Sequence[str],
    wish: ChannelReplay | None,
) -> str:
    """Which rubrics there are in a channel, which one is used, which change is asked for, and what can be done."""
    by = "as this channel has chosen" if chosen != ChannelJudge() else "as the app is set"
    lines = [f"Replies in this channel are scored by {named(chosen, default)}, {by}."]
    if chosen.model and chosen.model not in models:
        lines.append(f"The model `{_ticked(chosen.model)}` is no longer offered, so the app's own is asked.")
    if wish:
        stands = "knows how it compares, and has not decided yet" if wish.told_at else "which is being compared"
        lines.append(f":hourglass: <@{wish.user_id}> asked for {named(wish.judge, default)}, {stands}.")
    made = {saved.name for saved in own}
    in_use = chosen.rubric or default
    lines += [_shipped(name, in_use) for name in shipped if name not in made]
    lines += [_own(saved, chosen, in_use) for saved in own]
    lines += ["", _HELP]
    if models:
        offered = f"{_listed(models)}, or {DEFAULT}, the app's own"
        lines.append(f"• `/judge rubric use NAME MODEL` also chooses the model: {offered}")
    return "\n".join(lines)


def used(judge: ChannelJudge, default: str) -> str:
    """The channel is scored otherwise from now on."""
    return f"Replies in this channel are now scored by {named(judge, default)}. {_LINE_BREAKS}"


def unchanged(judge: ChannelJudge, default: str) -> str:
    """That was chosen before."""
    return f"Replies in this channel are scored by {named(judge, default)} already."


def named(judge: ChannelJudge, default: str) -> str:
    """A channel's judge, within a sentence."""
    return f"`{_ticked(judge.rubric or default)}`{_with(judge.model)}"


def no_rubric(name: str, names: Sequence[str]) -> str:
    """For a name that no rubric has."""
    known = ", ".join(f"`{_ticked(each)}`" for each in names)
    return f"There is no rubric `{_ticked(name)}` here. There are {known}."


def no_model(name: str, models: Sequence[str]) -> str:
    """For a model that may not be chosen."""
    if not models:
        return NO_MODELS
    return f"The model `{_ticked(name)}` is not offered. There are {_listed(models)}."


def deleted(name: str) -> str:
    """A rubric was deleted."""
    return f"The rubric `{_ticked(name)}` is deleted, with all of its versions. Scores that it gave stay."


def not_made_here(name: str, own: Sequence[str]) -> str:
    """For the end of a rubric that was not made in this channel."""
    known = f"Here were made {', '.join(f'`{each}`' for each in own)}." if own else "None was made here."
    return f"No rubric `{_ticked(name)}` was made in this channel. {known}"


def not_deleted_in_use(name: str) -> str:
    """For a rubric that is used."""
    return f"This channel is scored by `{_ticked(name)}`. Choose another first: `/judge rubric use default`."


def not_understood(reason: str) -> str:
    """What `/judge rubric` can do, for a person who typed something else; `reason` quotes it."""
    return f"{escape(reason)}. This is what I understand:\n{_HELP}"


def no_access_text(refusal: NoAccess) -> str:
    """Why a person may not see a channel's rubrics, or not change them."""
    if refusal.reason is NoAccessReason.UNSURE:
        return f"Slack does not let me see who is in this channel (`{refusal.error}`), so I leave its rubrics alone."
    return _NO_ACCESS[refusal.reason]


def _shipped(name: str, in_use: str) -> str:
    return f"• {_marked(name, in_use)}: {purpose_of(name) or f'of whoever runs the app; `{DEFAULT}` goes back to it'}"


def _own(saved: SavedRubric, chosen: ChannelJudge, in_use: str) -> str:
    version = saved.rubric.version
    versions = f"{saved.number} versions" if saved.number > 1 else "1 version"
    line = f"• {_marked(saved.name, in_use)}: made here, {versions}, the last on {saved.saved_at:%Y-%m-%d} ({version})"
    if chosen.rubric == saved.name and chosen.version != version:
        line += f"; {chosen.version} is used, and `/judge rubric use {saved.name}` takes the last one"
    return line


def _marked(name: str, in_use: str) -> str:
    return f"*`{_ticked(name)}` (in use)*" if name == in_use else f"`{_ticked(name)}`"


def _with(model: str | None) -> str:
    return f" with the model `{_ticked(model)}`" if model else ""


def _listed(models: Sequence[str]) -> str:
    return clip(", ".join(models), _MODELS)


def _ticked(name: str) -> str:
    return clip(name, _NAME)
