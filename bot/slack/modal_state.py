"""What a window remembers until it is submitted, in `private_metadata`.

Slack shows it to nobody, but it goes through the person's own Slack: what comes back is a claim, and is looked up or
checked where it is used.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.domain.case import LARGEST_ID

CaseId = Annotated[int, Field(le=LARGEST_ID)]


class ModalState(BaseModel):
    """Where a window was opened, the `response_url` of there, and its case; 3,000 characters at most.

    `home_id` is the person's direct messages with the app, where it was opened in their Home tab.
    `rubric` names the rubric that it is about, and `version` is the one that it began with, or has saved.
    `labelled` are the cases that its person has labelled in it, since it was last said how their labels compare.
    """

    model_config = ConfigDict(frozen=True)

    channel_id: str | None = None
    response_url: str | None = None
    home_id: str | None = None
    case_id: CaseId | None = None
    rubric: str | None = None
    version: str | None = None
    labelled: tuple[CaseId, ...] = ()

    def to_private_metadata(self) -> str:
        """As it travels with the window."""
        return self.model_dump_json(exclude_defaults=True)

    @classmethod
    def from_private_metadata(cls, text: str) -> "ModalState":
        """What a window remembered; nothing where that is not of our making."""
        try:
            return cls.model_validate_json(text or "{}")
        except ValidationError:
            return cls()
